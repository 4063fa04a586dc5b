"""Support for processes, files, documents and words, without anything about GPUs."""
