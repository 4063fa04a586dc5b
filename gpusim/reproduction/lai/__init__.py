"""The claims of Lai and Seznec."""
