"""Every claim of the five published documents, each computed anew: what was published, and what comes out here."""
