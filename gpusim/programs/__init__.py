"""Programs as they are: a program's own process runs on a simulated card, whose part is played here."""
