"""The paper's 20-D benchmark: its two studies, by its protocol and ours, and further questions on the same data."""
