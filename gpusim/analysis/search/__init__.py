"""Search over parameters, machines, schedules and tunings."""
