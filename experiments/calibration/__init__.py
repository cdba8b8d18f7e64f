"""Do the levels hold and do the intervals cover? Pairs and sequences without a difference, and with a known one."""
