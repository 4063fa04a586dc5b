"""Which values go from which instruction to which, and where lanes part."""
