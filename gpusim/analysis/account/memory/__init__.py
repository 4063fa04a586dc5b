"""The account of memory as tables: by level and operation, by buffer, by instruction."""
