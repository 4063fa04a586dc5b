"""Launch files that are written here: first drafts of a kernel's launch, and launches as they were."""
