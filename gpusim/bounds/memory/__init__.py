"""What launches must move between the levels of memory: sectors of their blocks, and the time that these take."""
