"""Device-induced shift between healthy ECG cohorts: found, explained, equalised (paper 3.2, Figure 3)."""
