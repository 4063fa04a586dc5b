"""What is AMD's: rows, text and waits of GCN."""
