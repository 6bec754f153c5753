"""Datasets as files: read whatever was sent, tell what it holds, keep it where all can read it."""
