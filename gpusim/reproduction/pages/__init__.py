"""Pages, plots and pictures of the claims."""
