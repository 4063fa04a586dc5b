"""Constants among an instruction's operands."""
