"""The studies of the paper on the public API."""
