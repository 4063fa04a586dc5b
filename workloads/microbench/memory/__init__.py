"""Probes of memory: banks, coalescing, latency, bandwidth."""
