"""The copy engine: bulk and tensor copies between global and shared memory, without the warps' doing."""
