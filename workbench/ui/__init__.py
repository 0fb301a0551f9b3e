"""What the pages are drawn with: the app's shell, cached readers, figures, tables and widgets."""
