"""The claims of CME 213's lectures."""
