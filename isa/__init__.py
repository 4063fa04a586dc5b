"""Instructions: table, text, values, dependences; this package knows no machine and no time."""
