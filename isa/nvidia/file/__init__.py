"""Files of machine code: containers, their functions, dumps, fat binaries, names."""
