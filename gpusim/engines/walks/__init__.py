"""What launches do to memory, found in program order without time: races, traffic, footprints, common words."""
