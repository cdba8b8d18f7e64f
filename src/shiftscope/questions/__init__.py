"""What else is asked of the same machinery: suspected rows, batches over time, what remains."""
