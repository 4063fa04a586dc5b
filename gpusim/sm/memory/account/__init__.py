"""The account of memory: what each instruction moved at each level, by buffer."""
