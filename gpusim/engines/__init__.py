"""How time advances: discrete events on SimPy, or the same agents in a compiled loop. The rules are the same."""
