"""Human-in-the-loop prompt optimization for radiology reports."""

__version__ = "0.1.0"
