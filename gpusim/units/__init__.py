"""What each hardware unit declares, a file each: keys, numbers, state and limits. `rules` says what the units do."""
