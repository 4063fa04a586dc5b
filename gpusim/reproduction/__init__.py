"""The claims of the five published documents, each computed anew beside its published result."""
