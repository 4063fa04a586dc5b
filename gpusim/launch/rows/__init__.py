"""Parts of decoded rows."""
