"""Caches: levels, tags, and the requests that ask them."""
