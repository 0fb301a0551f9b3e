"""Plain values of the field: no input or output, standard library only."""
