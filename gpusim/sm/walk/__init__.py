"""The walk of an instruction through the units, cycle by cycle or in program order."""
