"""Neighbours, scores, their null, calibration and equalisation: the paper's 2.1 and 2.2."""
