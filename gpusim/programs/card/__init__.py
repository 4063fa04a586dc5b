"""The card: its memory, modules, launches and clock, and what it answers to a program."""
