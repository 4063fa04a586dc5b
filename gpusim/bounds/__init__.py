"""How fast a launch could be: bounds from counts, rates and dependence chains."""
