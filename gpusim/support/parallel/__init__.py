"""Work in parallel: processes of this machine, or a cluster."""
