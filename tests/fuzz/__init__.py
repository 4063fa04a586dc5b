"""Random programs on random machines and mutated texts, for as long as one likes: `make fuzz`."""
