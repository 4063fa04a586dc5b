"""How far the numbers of a machine can be trusted, and files made of a data sheet or of what a card measured."""
