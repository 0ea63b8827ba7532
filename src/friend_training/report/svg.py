"""The ground that plots are drawn on: a frame with two axes, as inline SVG.

Colours are classes, so that the page's style sheet decides them, light, dark or printed. Text is escaped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 12, 40

UNIT_TICKS = ((0.0, "0"), (0.25, ".25"), (0.5, ".5"), (0.75, ".75"), (1.0, "1"))
"""The ticks of a score."""

MOST_TICKS = 6

Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Frame:
    """Turns values into places. `x_range` and `y_range` are what the axes show."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def line(self, start: tuple[float, float], end: tuple[float, float], looks: str) -> Markup:
        (x1, y1), (x2, y2) = start, end
        places = f'x1="{self.x(x1):.1f}" y1="{self.y(y1):.1f}" x2="{self.x(x2):.1f}" y2="{self.y(y2):.1f}"'
        return Markup('<line class="{}" {}/>').format(looks, Markup(places))


def picture(
    frame: Frame, inside: Sequence[Markup], *, says: str, x_label: str, y_label: str, x_ticks: Ticks, y_ticks: Ticks
) -> Markup:
    """The axes and what is drawn between them. `says` is for those who cannot see it."""
    low_x, low_y = frame.x_range[0], frame.y_range[0]
    parts = [frame.line((low_x, value), (frame.x_range[1], value), "grid") for value, _ in y_ticks]
    parts += [_text(LEFT - 6, frame.y(value) + 3.5, text, "tick end") for value, text in y_ticks]
    parts += [_text(frame.x(value), HEIGHT - BOTTOM + 14, text, "tick middle") for value, text in x_ticks]
    parts += [frame.line((low_x, low_y), (frame.x_range[1], low_y), "axis")]
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_label, "label middle")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = Markup('<text class="label middle" transform="translate(10 {:.1f}) rotate(-90)">{}</text>')
    parts += [turned.format(middle, y_label), *inside]
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, says, Markup("").join(parts)
    )


def round_ticks(low: float, high: float, *, whole: bool = False) -> Ticks:
    """A few round numbers between two values; `whole` where only whole numbers make sense."""
    exponent = math.floor(math.log10((high - low) / MOST_TICKS))
    steps = [factor * 10.0**power for power in (exponent, exponent + 1) for factor in (1, 2, 5)]
    step = next(step for step in steps if (high - low) / step <= MOST_TICKS and (step >= 1 or not whole))
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((number * step, f"{number * step:,.{digits}f}") for number in range(first, last + 1))


def _text(x: float, y: float, text: str, looks: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(looks, x, y, escape(text))
