"""The schema, step by step; `bough migrate` takes a database to the newest step."""
