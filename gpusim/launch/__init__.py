"""Launches: a kernel and a machine become the record that an engine runs on."""
