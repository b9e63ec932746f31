"""Figures for reports and papers, one module a kind; they take tables and know no files.

Each module has a function `draw` that takes the tables of a metric, one for each seed, and gives a
`Drawing`: a matplotlib figure, and a caption that says in words what is seen on it. With several
seeds a figure shows means and 95 % confidence intervals. `draw` gives None where the tables hold
nothing to draw. `rendered` makes it the contents of an SVG, PDF or PNG file.
"""

from analysis.figures.style import Drawing, rendered

__all__ = ["Drawing", "rendered"]
