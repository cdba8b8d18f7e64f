"""Which relabellings of the pooled rows are equally likely, drawn and counted; p-values from them."""
