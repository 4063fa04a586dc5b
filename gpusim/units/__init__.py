"""What each hardware unit declares: machine keys, numbers, state, limits; stall.py has the stall reasons of all."""
