"""Kernels in OpenCL C, made CUDA C++ by their words and a header."""

from gpusim.api.kernel_tuner.opencl.translation import translated

__all__ = ["translated"]
