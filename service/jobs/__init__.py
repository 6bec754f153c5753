"""The worker process: it claims jobs and has each trained by a child process of its own."""
