"""Matrix instructions of a warpgroup: what the tensor cores do for four warps, later than these issue it."""
