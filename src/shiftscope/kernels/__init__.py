"""Numba kernels: arrays in, arrays out. They trust their input and know nothing of the stages above."""
