"""What every executor of a program has in common: errors, places of addresses, loads behind buffers, barriers."""
