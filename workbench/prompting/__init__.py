"""Prompt files, what they render to, how long that is, and what changed between two of them."""
