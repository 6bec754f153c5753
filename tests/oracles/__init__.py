"""Our learner beside the reference implementations, on public data with their recorded results."""
