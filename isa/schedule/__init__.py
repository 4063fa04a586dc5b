"""Orders of a program that compute the same, and which of them waits least."""
