"""Listings: from text to programs and kernels, and back."""
