"""Selection: whether the chosen warp goes at once, and who goes next if not."""
