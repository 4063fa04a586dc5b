"""Where lanes diverge and meet."""
