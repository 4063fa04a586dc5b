"""From the text of machine code to instructions."""
