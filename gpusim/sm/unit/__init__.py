"""What a unit declares with: keys, numbers, fields of the state, limits; and the stall reasons of all."""
