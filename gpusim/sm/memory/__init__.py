"""Memory as an SM sees it: addresses, shared memory, caches, ways to the L2, textures, constants."""
