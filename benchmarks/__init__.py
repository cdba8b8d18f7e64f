"""Speed and memory, side by side with peers, as ratios measured in one run."""
