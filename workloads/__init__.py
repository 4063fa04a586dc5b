"""Kernels worth running: each function returns an `isa.kernel.Kernel`; the catalog names them for the command line."""
