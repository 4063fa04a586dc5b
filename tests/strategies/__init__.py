"""Programs, machines, launches and documents drawn at random."""
