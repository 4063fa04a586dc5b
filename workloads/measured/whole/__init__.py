"""Whole kernels that were timed on an H200, as compiled, with their launches and the numbers that they worked on.

`kernels.cu` is the source, `kernels.cubin.xz` what nvcc 13.0.88 makes of it: the machine code that was timed.
"""
