"""Asynchronous copies: from global to shared memory, without registers."""
