"""Families of copies that go on by themselves, and of the barriers at which they arrive."""
