"""The chip: blocks of the grid, memory channels, and the answers to SMs that run ahead."""
