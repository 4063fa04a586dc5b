"""Data flow: which instructions produce and use which values, and where lanes diverge."""
