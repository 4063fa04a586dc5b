"""The rules of the SM, one file per unit: `earliest` says when it may, `commit` that it does."""
