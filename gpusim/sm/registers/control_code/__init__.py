"""Control codes: stall counts, yields, dependency barriers."""
