"""How a user launches machine code: a TOML file beside it, read into a kernel with its launch."""
