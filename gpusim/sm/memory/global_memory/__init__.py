"""Global memory: transactions, bandwidth and latency."""
