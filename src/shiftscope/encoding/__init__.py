"""Two tables as one pooled matrix for the metric, and as bins for the scan; no label plays a part."""
