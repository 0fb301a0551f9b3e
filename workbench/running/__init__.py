"""Carrying out runs: bounded, resumable, one runner at a time."""
