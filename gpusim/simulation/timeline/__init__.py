"""The timeline of a launch: what each warp instruction did, what it waited for, and who blocked it."""
