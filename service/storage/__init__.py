"""Everything that speaks SQL: records in and out, the session is always an argument."""
