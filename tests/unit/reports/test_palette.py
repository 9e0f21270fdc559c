"""The colours of charts: readers who do not see red, green or blue see them apart."""

import re

import numpy as np
import pytest

from hlteval.reports.drawing import PALETTE
from hlteval.reports.html.page import asset

#: What remains of linear RGB without a kind of cones (Machado, Oliveira and Fernandes 2009).
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: Linear RGB as cones see it, and the cube roots of that as Oklab (Ottosson 2020).
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def themes() -> list[dict[str, str]]:
    """The colours of the page by name: light, dark by the switch, dark where scripts are off."""
    found = re.findall(r"\{[^{}]*--ground:[^{}]*\}", asset("assets/report.css"))
    return [dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", each)) for each in found]


def series(theme: dict[str, str]) -> list[str]:
    return [theme[f"--series-{number}"] for number in range(1, 9)]


def linear(colours: list[str]) -> np.ndarray:
    parts = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in colours])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colours: list[str]) -> np.ndarray:
    light: np.ndarray = linear(colours) @ np.array([0.2126, 0.7152, 0.0722])
    return light


def least_difference(colours: list[str], sight: str) -> float:
    """The difference of the two colours that are most alike, in hundredths of Oklab."""
    seen = np.clip(linear(colours) @ np.array(SIGHT[sight]).T, 0, 1)
    lab = np.cbrt(seen @ np.array(CONES).T) @ np.array(OKLAB).T * 100
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=-1)
    return float(apart[np.triu_indices(len(colours), 1)].min())


@pytest.mark.parametrize(("sight", "least"), [*zip(SIGHT, (15, 9.9, 9.9, 8.5), strict=True)])
def test_any_two_colours_are_seen_apart(sight: str, least: float) -> None:
    assert [least_difference(series(theme), sight) >= least for theme in themes()] == [True] * 3


def test_every_colour_is_seen_on_its_ground() -> None:
    light, dark, _ = themes()
    assert min(1.05 / (luminance(series(light)) + 0.05)) >= 3
    ground = luminance([dark["--ground"]])[0]
    assert min((luminance(series(dark)) + 0.05) / (ground + 0.05)) >= 3


def test_pages_and_plots_have_the_same_colours() -> None:
    light, switched, preferred = themes()
    assert tuple(series(light)) == PALETTE
    assert switched == preferred
    assert light.keys() == switched.keys()


def test_colours_that_are_alike_are_noticed() -> None:
    assert least_difference(["#c42f0a", "#0f7a5c"], "all cones") > 20
    assert least_difference(["#d00000", "#5a6a00"], "protanopia") < 10
