"""Kernels: pure functions of arrays, compiled by numba; nothing but training imports them."""
