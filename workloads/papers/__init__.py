"""Generators of the published documents' kernels, with their spaces."""
