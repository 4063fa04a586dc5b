"""Answers to what a program asks of the card."""
