"""Issue slots that an access with conflicts takes again."""
