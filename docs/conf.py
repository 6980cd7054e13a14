"""Configuration of the documentation (Sphinx)."""

import importlib.metadata

project = "stratadiff"
author = "The stratadiff developers"
copyright = "The stratadiff developers"
release = version = importlib.metadata.version("stratadiff")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_ivar = True  # attributes are described, not targets: several classes have a `path`
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections say the types

html_theme = "furo"
html_title = "stratadiff"
