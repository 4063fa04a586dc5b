"""Running ahead: what SMs may ask of the chip before they need to know, and who owns each word."""
