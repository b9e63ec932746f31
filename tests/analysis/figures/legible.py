"""Whether all that is written on a figure can be read."""

from collections.abc import Iterator
from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.text import Text

from analysis.figures import Drawing


def assert_legible(drawing: Drawing) -> None:
    """No text covers another, and none leaves the page; the figure must have been drawn."""
    page = drawing.figure.bbox.padded(1)
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(drawing)]
    assert boxes or not drawing.figure.axes[0].axison
    for text, box in boxes:
        assert page.contains(box.x0, box.y0), text
        assert page.contains(box.x1, box.y1), text
    for (one, here), (other, there) in combinations(boxes, 2):
        width = min(here.x1, there.x1) - max(here.x0, there.x0)
        height = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert width <= 1 or height <= 1, f"{one!r} and {other!r} cover each other"


def texts(drawing: Drawing) -> Iterator[Text]:
    """Every text that is seen; ticks outside of an axis's limits are made but not drawn."""
    ticks = set()
    for axes in drawing.figure.axes:
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            # Panels that share an axis have places, and no labels at all.
            places = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
            for place, label in places:
                if not min(low, high) - 1e-9 <= place <= max(low, high) + 1e-9:
                    ticks.add(label)
            ticks.update(axis.get_minorticklabels())
    for text in drawing.figure.findobj(Text):
        hidden = text in ticks or not text.get_visible() or not text.get_text().strip()
        if not hidden and not _in_hidden_axis(text, drawing.figure.axes):
            yield text


def _in_hidden_axis(text: Text, all_axes: list[Axes]) -> bool:
    """Shared panels show the labels of one of them only, and maps have no axes."""
    for axes in all_axes:
        for axis in (axes.xaxis, axes.yaxis):
            if text in (*axis.get_majorticklabels(), axis.label, axis.get_offset_text()):
                return not axes.axison or not axis.get_visible() or not text.get_visible()
    return False
