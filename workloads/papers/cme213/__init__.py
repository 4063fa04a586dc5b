"""CME 213's expressions."""
