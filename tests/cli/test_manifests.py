"""Manifests: each fixture raises its code at its place and no other, and what is valid nothing."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import best_submissions, check_manifest, pipeline
from hlteval.syntax.places import locate
from tests.effort import tries
from tests.unit.workflows.evaluations import evaluation, links

FIXTURES = Path(__file__).parents[2] / "fixtures" / "manifest"

# Line, column and end column, all 0 for a file without a place; E for an error, W for a warning,
# and ! where it blocks.
PLACES = """
MAN101-no-quotes           1   8   8  E!
MAN101-open-array          3   1   1  E!
MAN102-misspelt            1   1  10  E!
MAN102-in-a-limit          7   1   4  E!
MAN103-date                4  13  23  E!
MAN103-one-language        1  13  19  E!
MAN104-limit-of-what       5   3   9  E!
MAN104-no-name             1   1   1  E!
MAN105-misspelt-part       6   8  14  E!
MAN105-most-zero           7   8   9  E!
MAN106-exchanged           5   2  14  E!
MAN107-checkpoint          8  14  19  E!
MAN107-task-of-a-team      6  10  22  E!
MAN108-misspelt            4  13  27  E
MAN109-exchanged           7   9  10  E!
MAN110-metric              4  10  14  E!
MAN110-option              4  21  26  E!
MAN110-profile             4  11  21  E!
MAN111-no-team             4   9  16  E!
MAN111-twice               4   9  24  E!
MAN112-copied             10   8  15  E!
MAN201-misspelt            6   8  19  E
MAN202-three-of-two        8   8   9  E
MAN203-invalid             6   2  11  E
MAN204-no-pattern          0   0   0  E
MAN205-misspelt            0   0   0  E
MAN206-other-team          8   8  13  W
MAN207-second-checkpoint   8  15  32  E
MAN208-two-teams           8  15  49  E
MAN209-hyphen              8  33  48  E
MAN210-two-runs            8  15  66  E
MAN211-none                8   2  11  E
MAN212-first-only          7   2  11  W
MAN213-invalid             7  33  48  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(row):
    name, line, column, end, level = row
    folder = FIXTURES / "invalid" / name
    root = folder if (folder / "submissions").exists() else None
    verdict = check_manifest(folder / "manifest.toml", root)
    assert [found.code for found in verdict.findings] == [name.partition("-")[0]]
    (found,) = verdict.findings
    assert found.severity.value[0].upper() + "!" * found.blocking == level
    assert verdict.passed is (found.severity == "warning")
    place = [found.span.line, found.span.column, found.span.end_column] if found.span else [0] * 3
    assert place == [int(line), int(column), int(end)]
    assert "{" not in found.message + (found.help or "") or found.code == "MAN111"


def test_every_fixture_has_its_place():
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


@pytest.mark.parametrize("name", ["ccu", "lorehlt"])
def test_what_is_valid_raises_nothing(name):
    folder = FIXTURES / "valid" / name
    assert check_manifest(folder / "manifest.toml", folder).findings == ()


@pytest.mark.parametrize("name", ["MAN105-misspelt-part", "MAN109-exchanged", "MAN106-exchanged"])
def test_a_pipeline_does_not_run_with_a_wrong_manifest(name, tmp_path):
    root = evaluation(tmp_path, links("LCC", 1))
    with pytest.raises(ValueError, match=name[:6]):
        pipeline(
            root, tmp_path / "reference.tab", manifest=FIXTURES / "invalid" / name / "manifest.toml"
        )
    assert not (root / "logs").exists()


def test_the_command_reports_all_at_once_and_fails(invoke, tmp_path):
    path = tmp_path / "manifest.toml"
    path.write_text('name = 3\nlangauges = []\n[tasks.ccu-nd]\nprofil = "plan"\n', "utf-8")
    result = invoke("manifest", "check", path, "--format", "concise")
    assert result.exit_code == 1
    assert [line.partition(": ")[0] for line in result.stdout.splitlines()] == [
        f"{path}:1:8",
        f"{path}:2:1",
        f"{path}:4:1",
    ]
    path.write_text('name = "E"\n[tasks.ccu-nd]\n', "utf-8")
    result = invoke("manifest", "check", path)
    assert (result.exit_code, result.stdout) == (0, "no findings\n")
    result = invoke("manifest", "check", path, tmp_path)
    assert result.exit_code == 2
    assert "no such file or folder" in result.stderr


@pytest.mark.parametrize("missing", ["manifest", "folder"])
def test_what_is_not_a_manifest_is_an_error_of_usage(invoke, missing, tmp_path):
    path = tmp_path if missing == "folder" else tmp_path / "no.toml"
    result = invoke("manifest", "check", path)
    assert (result.exit_code, result.stdout) == (2, "")


MANIFEST = """\
name = "E"
checkpoints = ["CP1", "CP2"]
[tasks.lorehlt-edl]
reference = "reference.tab"
metric = "muc.fscore"
options = {measure = "muc"}
"""


@pytest.mark.thorough
def test_the_best_submission_of_each_team_at_each_checkpoint(invoke, tmp_path):
    archives = [links("LCC", 2), links("LCC", 1, "PER"), links("COL", 1), links("LCC", 3, "CITY")]
    root = evaluation(tmp_path, *archives, links("LCC", 1, checkpoint="CP2"))
    path = tmp_path / "manifest.toml"
    path.write_text(MANIFEST, "utf-8")
    assert best_submissions(path, root) == ()
    assert pipeline(root, manifest=path).counts == {"scored": 4, "invalid": 1}
    best = best_submissions(path, root)
    # One mention has no links: all values are undefined, and the first submission counts.
    assert [(each.checkpoint, each.team, each.submission) for each in best] == [
        ("CP1", "COL", "COL_EDL_CP1_1.tab"),
        ("CP1", "LCC", "LCC_EDL_CP1_1.tab"),
        ("CP2", "LCC", "LCC_EDL_CP2_1.tab"),
    ]
    path.write_text(MANIFEST.replace("muc.fscore", "strong_typed_all_match.fscore"), "utf-8")
    pipeline(root, manifest=path, options={"measure": "strong_typed_all_match"})
    best = best_submissions(path, root)
    assert [(each.team, each.submission, each.value) for each in best][:2] == [
        ("COL", "COL_EDL_CP1_1.tab", 1.0),
        ("LCC", "LCC_EDL_CP1_2.tab", 1.0),
    ]
    shown = invoke("manifest", "best", path, root, "--format", "tsv").stdout.splitlines()
    assert shown[0].split("\t")[-3:] == ["submission", "metric", "value"]
    assert len(shown) == 4
    rows = json.loads(invoke("manifest", "best", path, root, "--format", "json").stdout)
    assert [row["value"] for row in rows["best"]] == [1.0, 1.0, 1.0]
    assert "strong_typed_all_match.fscore  1.0000" in invoke("manifest", "best", path, root).stdout


KEYS = st.sampled_from(["a", "b-1", '"c d"', "'e.f'", "1979-05-27", "x.y"])
SCALARS = st.sampled_from(
    ["1", "-1.5e3", "true", "inf", '"s#]"', "'{'", "1979-05-27 07:32:00Z", '"""\n"x" \\"""\n"""']
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[ " + ",\n # c\n".join(items) + " ]")
        | inner.map(lambda value: f"{{k = {value.partition(chr(10))[0]}, l.m = 2}}")
    ),
    max_leaves=4,
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    KEYS.map(lambda key: f"[t.{key}]"),
    KEYS.map(lambda key: f"[[u.{key}]]"),
    st.just("# comment [x]"),
    st.just(""),
)


def paths(value: object, at: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """The paths of all that is in a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    inner = {(*at, key): each for key, each in items}
    found = set(inner)
    for path, each in inner.items():
        found |= paths(each, path) if isinstance(each, dict | list) else set()
    return found


@settings(max_examples=tries(50))
@given(st.lists(LINES, max_size=6))
def test_every_key_and_value_of_a_document_has_a_place(lines):
    text = "\n".join(lines)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = locate(text)
    assert set(found) == paths(content)
    for path, place in found.items():
        value = text[place.value.start : place.value.end]
        if isinstance(path[-1], int) or place.key != place.value:
            inner = content
            for step in path:
                inner = inner[step]
            if not isinstance(inner, dict | list) and len(path[-1:]):
                assert tomllib.loads(f"v = {value}")["v"] == inner or value == "inf"


def test_a_copy_of_a_root_gives_the_same(tmp_path):
    source = FIXTURES / "invalid" / "MAN202-three-of-two"
    shutil.copytree(source, tmp_path / "copy")
    for name in (tmp_path / "copy" / "submissions").iterdir():
        name.touch()
    copied = check_manifest(tmp_path / "copy" / "manifest.toml", tmp_path / "copy")
    own = check_manifest(source / "manifest.toml", source)
    assert [item.message for item in copied.findings] == [item.message for item in own.findings]
