"""Other ways to compare two samples, on the units of the paper's studies."""
