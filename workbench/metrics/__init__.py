"""Metrics of generated reports that the field already uses; each compares a reference text with a generated one."""
