"""Policies: which of the warps that may issue does."""
