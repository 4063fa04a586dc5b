"""Processes, files, documents and words: nothing about GPUs."""
