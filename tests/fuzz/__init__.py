"""Random programs on random machines and mutated texts, for any number of seconds: `make fuzz`."""
