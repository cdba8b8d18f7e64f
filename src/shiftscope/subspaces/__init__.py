"""Small feature sets, counted: the scan."""
