"""From CUDA C to machine code, with NVIDIA's tools."""
