"""The docs as a small static site, and the parts of them that are written by programs.

Markdown is read as code hosts read it (CommonMark with tables), so a page looks alike in both
places. `python -m tools.site` writes what is generated and builds the site; it asks no network for
anything, and neither do the pages.
"""
