"""Probes of one unit each: latency chains, throughput streams, instruction mixes, bank conflicts."""
