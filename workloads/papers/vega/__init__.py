"""AMD's SGEMM without LDS, on Vega."""
