"""The rules of the SM, one file per hardware unit: when may it (`earliest`), it does (`commit`), what held it (`why`)."""
