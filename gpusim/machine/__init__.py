"""Machines: from a file of sourced numbers to checked, frozen ones."""
