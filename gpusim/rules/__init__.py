"""The rules of the SM, one file per unit: `earliest` says when a unit may act, `commit` carries the act out."""
