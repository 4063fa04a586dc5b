"""Orders of a program that compute the same results, and the search for the one with the fewest stalls."""
