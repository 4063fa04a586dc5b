"""The engines advance time: discrete events on SimPy, or the same agents in a compiled loop, with the same rules."""
