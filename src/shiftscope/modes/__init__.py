"""From evidence to modes: the paper's 2.3, and what is found by the scan."""
