"""Drafts of launches whose blocks have run: buffers and shared memory are as large as what the code accesses."""
