"""The reference pages of the docs site, made from the code whenever the site is built; nothing in them is copied."""
