# SPDX-License-Identifier: GPL-2.0-or-later
"""Sphinx's configuration for make html. build.py fills its source directory."""

project = "weir"
author = "the weir authors"
extensions = ["myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = []
nitpicky = True
smartquotes = False
myst_heading_anchors = 3
html_theme = "furo"
html_title = "weir"
html_static_path = ["_static"]
html_css_files = ["weir.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
highlight_language = "none"
html_theme_options = {"sidebar_hide_name": False}
