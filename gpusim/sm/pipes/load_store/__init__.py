"""The load/store unit: queues, ports and service."""
