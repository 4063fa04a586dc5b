"""The state of an SM as one plain record, which all units' fields make up, and the codes that stand in it."""
