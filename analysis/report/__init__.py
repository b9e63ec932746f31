"""One self-contained HTML page per experiment, made of analysed runs; it starts no session."""

from analysis.report.build import build

__all__ = ["build"]
