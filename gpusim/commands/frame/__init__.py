"""What all commands share: how one is made (command.py), options, and what they mean."""
