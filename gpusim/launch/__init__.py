"""Launches combine a kernel and a machine into the record on which an engine runs."""
