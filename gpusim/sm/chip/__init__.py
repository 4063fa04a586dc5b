"""What the SMs of a chip share."""
