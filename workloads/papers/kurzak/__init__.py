"""Kurzak, Tomov and Dongarra's stencil of GEMM."""
