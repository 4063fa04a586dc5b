"""Where the time and the energy of a launch went."""
