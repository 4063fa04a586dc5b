"""The trace: one record per event."""
