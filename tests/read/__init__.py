"""Readers of what gpusim writes: strict, and with nothing of gpusim's."""
