"""The rules of the SM, one file per unit: when may it (`earliest`), it does (`commit`), what held it (`why`)."""
