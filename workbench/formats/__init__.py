"""Files from outside and for outside, one module per form. Nothing here knows the database."""
