"""The claims of Tan et al."""
