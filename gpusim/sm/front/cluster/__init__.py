"""Clusters: blocks on several SMs that run together."""
