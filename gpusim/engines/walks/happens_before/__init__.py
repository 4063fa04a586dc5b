"""What is certainly earlier than what: clocks of warps and of work that goes on by itself, and what conflicts."""
