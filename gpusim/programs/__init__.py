"""Programs as they are: a program's own process runs on a card that is not there, whose part is played here."""
