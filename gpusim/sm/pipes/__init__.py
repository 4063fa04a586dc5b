"""Pipes and the load/store unit: who takes an instruction, and for how long."""
