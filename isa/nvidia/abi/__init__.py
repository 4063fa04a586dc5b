"""What a launch and its code agree on: parameters and constant banks."""
