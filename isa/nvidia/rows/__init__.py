"""The rows of the instruction table, a file for each spelling."""
