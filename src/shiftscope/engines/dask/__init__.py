"""Rows, counts and neighbours on a Dask cluster."""
