"""The rules of the SM, one file per unit, throttles included: `earliest` says when a unit may act, `commit` acts."""
