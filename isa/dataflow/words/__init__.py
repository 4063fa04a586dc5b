"""Words that a data flow follows: results of known numbers, and spilled registers."""
