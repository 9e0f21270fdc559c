"""Manifests of campaigns: each fixture raises its code at its place and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.workflows.evaluation.campaign import campaign
from hlteval.workflows.evaluation.manifests import read_campaign
from tests.unit.campaign.demo import InProcess

FIXTURES = Path(__file__).parents[3] / "fixtures" / "campaign" / "invalid"

# Line, column and end column; E for an error, and ! where it blocks.
PLACES = """
CPN101-no-quotes         1   8   8  E!
CPN102-in-a-condition   10   1   8  E!
CPN102-misspelt          1   1   9  E!
CPN103-one-profile       1  12  18  E!
CPN104-no-name           1   1   1  E!
CPN105-confidence        1  14  16  E!
CPN105-negative          1  13  15  E!
CPN106-exchanged         6   2  19  E!
CPN107-misspelt          8  16  23  E!
CPN108-metric            8  11  17  E!
CPN108-no-reference      6   2  19  E!
CPN108-option            8  19  22  E!
CPN108-profile           8  12  24  E!
CPN109-two-folders       2  21  29  E!
CPN110-none              1   1   5  E!
CPN111-none              6   2   7  E!
CPN112-misspelt          2  12  18  E!
CPN201-misspelt          4   9  20  E
CPN202-other-format      4   9  20  E
CPN302-other-measure     8  11  30  W
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(row, tmp_path):
    name, line, column, end, level = row
    manifest = read_campaign(str(FIXTURES / name / "campaign.toml"))
    assert manifest.usable is ("!" not in level)
    found = list(manifest.findings)
    if manifest.usable:
        result = campaign(manifest, tmp_path, workers=InProcess())
        found += [*result.findings, *(each for row in result.rows for each in row.findings)]
    (only,) = found
    assert only.code == name.partition("-")[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    place = [only.span.line, only.span.column, only.span.end_column]
    assert place == [int(line), int(column), int(end)]
    assert "{" not in only.message + (only.help or "")
    assert str(FIXTURES) not in only.message


def test_every_fixture_has_its_place():
    assert {path.name for path in FIXTURES.iterdir()} == {row[0] for row in ROWS}


MANIFEST = """
name = "Dry run"
profiles = ["plan", "official"]
folders = ["runs"]

[submissions]
far = "memory://far/run.tab"

[tasks.lorehlt-edl]
reference = "gold.tab"
submissions = ["one", "far"]
options = {type_weights = "weights.tab"}

[tasks.lorehlt-edl.conditions.all]

[tasks.lorehlt-edl.conditions.muc]
reference = "other.tab"
submissions = ["two.1"]
options = {measure = "mention_ceaf"}

[tasks.hub4]
profiles = ["plan"]
reference = "gold.tpl"
"""


@pytest.fixture
def manifest(tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("one.tab", "two.1.tar.gz", "three.zip", ".hidden", ".DS_Store"):
        (runs / name).touch()
    (runs / "four.folder").mkdir()
    path = tmp_path / "dry.toml"
    path.write_text(MANIFEST)
    return read_campaign(str(path))


def test_a_manifest_is_expanded_into_cells_in_its_order(manifest):
    assert manifest.findings == ()
    cells = [(c.task, c.profile, c.condition, c.submission) for c in manifest.cells()]
    edl = [("all", "one"), ("all", "far"), ("muc", "two.1")]
    expected = [("lorehlt-edl", profile, *each) for profile in ("plan", "official") for each in edl]
    every = ("far", "four.folder", "one", "three", "two.1")
    assert cells == expected + [("hub4", "plan", "", name) for name in every]


def test_paths_are_relative_to_the_manifest_and_options_are_merged(manifest, tmp_path):
    first, far, muc, *_ = manifest.cells()
    assert (first.system, first.reference) == (
        str(tmp_path / "runs" / "one.tab"),
        str(tmp_path / "gold.tab"),
    )
    assert far.system == "memory://far/run.tab"
    assert first.options == {"type_weights": str(tmp_path / "weights.tab")}
    assert muc.options == {"type_weights": str(tmp_path / "weights.tab"), "measure": "mention_ceaf"}
    assert muc.reference == str(tmp_path / "other.tab")
    assert manifest.display(first.system) == "runs/one.tab"
    assert manifest.display("/elsewhere/a") == "/elsewhere/a"
