"""Text input: pieces with line and column, numbers, names, files."""
