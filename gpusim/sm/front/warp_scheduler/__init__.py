"""A warp scheduler: which warps may issue, and a calendar of those that wait."""
