"""An access to memory: its addresses, what they cost, and the words that it moves."""
