"""What an H200 computes, bit by bit: snippets of PTX, their inputs, and the table of their results."""
