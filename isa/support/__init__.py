"""Support: texts in short, tables in bulk, frozen records, a cache folder."""
