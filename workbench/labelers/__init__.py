"""Labelers: a prompt and a report become a state per finding."""
