"""What a person does in a study, with rights checked; pages and commands call the same functions."""
