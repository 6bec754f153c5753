"""What the service does, one verb a file; sessions and settings are arguments."""
