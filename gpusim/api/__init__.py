"""What a user's program calls: `import gpusim`, modules of machine code, Triton, Kernel Tuner."""
