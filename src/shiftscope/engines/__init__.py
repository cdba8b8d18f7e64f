"""Where neighbours and counts are computed."""
