"""The SM scanned cycle by cycle: a third model, which shares no rule with the engines."""
