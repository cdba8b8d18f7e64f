"""Whatever the user has, as a `Table`: files, frames and arrays, and what kind each column is."""
