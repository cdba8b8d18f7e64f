"""Studies: what the package does on data with known truth, and beside other methods. They use its public names only."""
