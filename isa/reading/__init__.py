"""Text as users write it: pieces with line and column, numbers, names, files."""
