"""How the documentation is built: sphinx-build -W docs build/docs."""

project = "symfleet"
copyright = "the symfleet authors"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
