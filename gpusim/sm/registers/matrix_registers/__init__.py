"""When matrix instructions read and write registers."""
