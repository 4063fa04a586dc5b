"""One SM: units by area, each with its declaration beside its rules: `earliest` says when, `commit` acts."""
