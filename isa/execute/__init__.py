"""Execution in program order, with no time: values, addresses, races, traffic."""
