"""Effects with times: what an instruction does later than it issues, and who waits for that."""
