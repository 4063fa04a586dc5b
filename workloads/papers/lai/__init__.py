"""Lai and Seznec's SGEMM."""
