"""Instructions: a mnemonic is a row of table.py, its values, operands, text and dependences. No machine, no time."""
