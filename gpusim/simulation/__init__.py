"""One simulation of a launch: cycles, checked values and the bound in one result."""
