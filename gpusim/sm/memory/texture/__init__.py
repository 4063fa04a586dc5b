"""Textures: coordinates, elements, and what their fetches take."""
