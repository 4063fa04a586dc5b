"""Real machine code: containers, their functions, and each instruction's text and control code."""
