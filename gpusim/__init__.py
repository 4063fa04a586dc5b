"""Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run."""
