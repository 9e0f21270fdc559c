"""Pictures that need no browser, as SVG: findings in a terminal, and curves of two systems.

Both are computed from data with a fixed seed, so that the same code gives the same bytes. They load
nothing: the fonts are those of the reader.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import chdir
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "hlteval" / "demo"
COLUMNS = 82
"""The width of the terminal in characters."""
COMMAND = "hlteval validate lorehlt-edl entities/flawed.tab --against entities/texts"
DOCUMENTS = 80
TYPES = ("Evacuation", "Food Supply", "Medical Assistance", "Shelter", "Water Supply")
PLACES = ("Kasese", "Naryn", "Osh", "Sittwe")
SYSTEMS = {"careful": 0.13, "bold": 0.24}
"""The standard deviation of the confidences of two invented systems."""

_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px FONTS }}
.{unique_id}-title {{ font: 16px FONTS }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
""".replace("FONTS", _FONTS)
_THEME = TerminalTheme(
    (24, 27, 33),
    (222, 226, 230),
    [
        *((24, 27, 33), (255, 122, 122), (126, 211, 133), (240, 200, 96)),
        *((122, 178, 255), (214, 160, 255), (98, 210, 220), (222, 226, 230)),
    ],
)


def finding() -> str:
    """The findings of a submission as a terminal shows them, with the command above."""
    from hlteval import validate
    from hlteval.reports.findings import render

    with chdir(DEMO):
        verdict = validate("lorehlt-edl", "entities/flawed.tab", against="entities/texts")
    console = Console(
        record=True,
        file=StringIO(),
        width=COLUMNS,
        force_terminal=True,
        color_system="standard",
        highlight=False,
        markup=False,
    )
    console.print(Text(f"$ {COMMAND}\n", "bold"), end="")
    console.print(render(verdict, "text", 20), soft_wrap=True)
    return console.export_svg(title="", theme=_THEME, code_format=_SVG, unique_id="finding")


def curve() -> str:
    """The curves of two invented systems, as `--plot` draws them."""
    from hlteval import score
    from hlteval.reports.drawing import write

    with TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "reference.json").write_text(json.dumps(list(_frames("reference", 0))), "utf-8")
        scores = {}
        for name, spread in SYSTEMS.items():
            (path / f"{name}.json").write_text(json.dumps(list(_frames(name, spread))), "utf-8")
            scores[name] = score(
                "speech-sf", path / "reference.json", path / f"{name}.json", bootstrap=100
            )
        first, *others = scores
        image = scores[first].plot({name: scores[name] for name in others})
        write(image, path / "curve.svg", "svg")
        return (path / "curve.svg").read_text("utf-8")


def _frames(name: str, spread: float) -> Iterator[dict[str, object]]:
    """The frames of a reference, or of a system whose confidences have this standard deviation."""
    truth, noise = random.Random(0), random.Random(name)  # noqa: S311 - no secrets
    for document in range(DOCUMENTS):
        present = truth.sample(TYPES, truth.choice((0, 1, 1, 2)))
        where = truth.choice(PLACES)
        for kind in TYPES:
            place, confidence = where, float(kind in present)
            if spread:
                place = where if noise.random() > spread else noise.choice(PLACES)
                level = noise.gauss(0.65 if kind in present else 0.35, spread)
                confidence = round(min(max(level, 0.01), 0.99), 2)
            if confidence > (0.2 if spread else 0):
                yield {
                    "DocumentID": f"D{document}",
                    "Type": kind,
                    "TypeConfidence": confidence,
                    "PlaceMention": place,
                }
