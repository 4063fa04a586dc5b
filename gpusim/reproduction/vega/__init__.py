"""The claims of AMD's VLP readme for Vega."""
