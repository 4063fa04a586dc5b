"""The tag stage of the L1."""
