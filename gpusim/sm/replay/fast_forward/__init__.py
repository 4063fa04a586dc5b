"""Fast-forward: states that come back, and the periods between them."""
