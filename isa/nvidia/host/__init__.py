"""What the host code of CUDA C says of a kernel's launches: a light reading, without a compiler."""
