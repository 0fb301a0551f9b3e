"""Names and other people's words in figures, as they were written: Plotly reads a part of HTML in every text."""


def literal(text: str) -> str:
    """Return a text that Plotly shows as it stands, whatever it holds: ``<b>Eve</b>`` is a name and not bold.

    For ticks, categories, legends, texts and what is told on hover; never for custom data, which is handed back.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def lines(*texts: str) -> str:
    """Return what is told on hover in as many lines, each as it stands; empty ones are left out."""
    return "<br>".join(literal(text) for text in texts if text)
