"""Every column by itself: what it is like in either sample, how far it moved, and what is odd about it."""
