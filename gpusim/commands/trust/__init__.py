"""How far to trust it: published and measured figures, and claims of documents."""
