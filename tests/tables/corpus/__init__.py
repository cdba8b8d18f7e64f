"""Small files as people have them, each with what a careful person reads in it."""
