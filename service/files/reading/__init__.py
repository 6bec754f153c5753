"""Reading whatever was sent: CSV, NDJSON or Parquet, in a process of its own."""
