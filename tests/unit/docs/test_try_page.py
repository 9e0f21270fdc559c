"""The page about a playground: it lists what hlteval needs, and marks what is missing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "try" / "index.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| (\S+) \|$", PAGE, re.M)


def test_every_library_is_listed_with_the_version_that_is_needed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = map(Requirement, project["dependencies"])
    lowest = {
        each.name: next(part.version for part in each.specifier if part.operator == ">=")
        for each in needed
    }
    assert {name: version for name, version, _ in ROWS} == lowest


def test_what_is_missing_is_marked_and_explained() -> None:
    """Once a maintainer writes newer versions and nothing is marked, the page can be built."""
    missing = set()
    for name, needed, written in ROWS:
        offered = written.strip("*")
        is_missing = offered == "none" or Version(offered) < Version(needed)
        assert is_missing == written.startswith("**"), name
        missing |= {name} if is_missing else set()
    assert missing == {"jsonschema-rs", "polars", "rapidfuzz"}
    for name in missing:
        assert f"- **{name}**" in PAGE
