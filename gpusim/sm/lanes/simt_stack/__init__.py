"""The SIMT stack: divergence and reconvergence."""
