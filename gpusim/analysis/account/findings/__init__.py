"""Findings of the diagnosis that look at what lanes do: where they part, and what they keep in local memory."""
