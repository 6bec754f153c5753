"""A worker whose clock is wrong."""
