"""Barriers in shared memory (mbarrier): the instructions that begin them, arrive at them and wait for them."""
