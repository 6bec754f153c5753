"""The learner in its readable form: what the kernels are compared with."""
