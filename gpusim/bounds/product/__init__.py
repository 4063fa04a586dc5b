"""The largest rate of a tiled matrix product on tensor cores, by tile: the first document's method for later chips."""
