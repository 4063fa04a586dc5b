"""What instructions are: table, text, values, dependences. Knows no machine and no time."""
