"""Bundles of platforms: each fixture raises its code at its place and no other."""

from __future__ import annotations

import json
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from hlteval.cli.app import app
from hlteval.findings import Finding
from hlteval.sources import open_source
from hlteval.tasks import load
from hlteval.validators.platforms import codabench, evalai
from hlteval.validators.platforms import trial as trials
from hlteval.validators.platforms.bundle import Bundle, Configuration
from hlteval.validators.platforms.trial import isolations, run_apart
from hlteval.workflows.platforms import check_bundle
from hlteval.workflows.publication import read_settings
from tests.effort import share

FIXTURES = Path(__file__).parents[3] / "fixtures"
BASE = FIXTURES / "codabench/valid/accuracy"
SETTINGS = FIXTURES / "publish-toml" / "invalid"
# The file, line, column and end column (0: the whole file; -: the whole bundle); then E for an
# error, W for a warning, I for an info, and ! where it blocks.
PLACES = """
BDL201-colon                 competition.yaml        2  13  13  E!
BDL201-tab                   competition.yaml        8   1   1  E!
BDL202-in-a-folder           -                       0   0   0  E!
BDL203-no-program            competition.yaml       10   1   6  E!
BDL203-no-terms              competition.yaml        1   1   1  E!
BDL203-no-title-of-a-page    competition.yaml        7   1   6  E!
BDL204-long-key              competition.yaml       36  14  58  E!
BDL204-no-columns            competition.yaml       33  14  14  E!
BDL204-sorting               competition.yaml       37  18  28  E!
BDL204-version               competition.yaml        1  10  11  E!
BDL205-singular              competition.yaml       24   5  20  W
BDL206-title                 competition.yaml        3   1   6  E!
BDL207-columns               competition.yaml       40  14  22  E!
BDL207-tasks                 competition.yaml       15  12  13  E!
BDL208-primary-index         competition.yaml       33  20  21  E!
BDL208-task-of-a-phase       competition.yaml       29  13  14  E!
BDL208-task-of-a-solution    competition.yaml       18  16  17  E!
BDL209-migration             competition.yaml       24  33  37  E!
BDL209-no-end                competition.yaml       19   1   7  E!
BDL209-overlap               competition.yaml       28  12  33  E!
BDL209-words                 competition.yaml       22  12  28  E!
BDL210-no-quotes             competition.yaml       23  10  29  W
BDL301-data                  competition.yaml       14  21  34  E!
BDL301-page                  competition.yaml        9  11  23  E!
BDL302-terms                 competition.yaml        4   8  16  E!
BDL303-parent                competition.yaml       17  11  22  E!
BDL304-picture               competition.yaml        3   8  16  E!
BDL305-empty                 program                 0   0   0  E!
BDL306-other-name            program/metadata.yaml   0   0   0  E!
BDL307-default-image         program/score.py        0   0   0  E!
BDL308-old-image             program/score.py        8  60  60  E!
BDL308-syntax                program/score.py        8   9   9  E!
BDL309-requirements          program/score.py        0   0   0  I
BDL401-exception             competition.yaml       17  11  19  E!
BDL402-list                  competition.yaml       17  11  19  E!
BDL402-other-file            competition.yaml       17  11  19  E!
BDL403-other-key             competition.yaml       36  14  22  W
BDL404-nested                competition.yaml       17  11  19  E!
BDL404-not-a-number          competition.yaml       17  11  19  E!
BDL405-no-page               competition.yaml        6  26  30  W
BDL406-endless               competition.yaml       17  11  19  E!
BDL407-no-solution           competition.yaml        1   1   1  W
"""
PLACES_OF_EVALAI = """
BDL203-no-codename           challenge_config.yaml  17   1  17  E!
BDL204-tags                  challenge_config.yaml  36   7   7  E!
BDL204-visibility            challenge_config.yaml  33  17  18  E!
BDL207-split-twice           challenge_config.yaml  36   5   5  E!
BDL208-label                 challenge_config.yaml  16  25  33  E!
BDL208-split                 challenge_config.yaml  32  23  24  E!
BDL209-exchanged             challenge_config.yaml  22  15  34  E!
BDL301-annotation            challenge_config.yaml  23  27  35  E!
BDL304-folder                challenge_config.yaml   8  20  28  E!
BDL304-markdown              challenge_config.yaml   3  14  22  E!
BDL308-later-syntax          script.zip/main.py     10   4   4  E!
BDL310-in-a-folder           script.zip              0   0   0  E!
BDL310-not-imported          script.zip              0   0   0  E!
BDL311-hlteval               script.zip/main.py      0   0   0  W
BDL401-exception             challenge_config.yaml   8  20  30  E!
BDL402-no-result             challenge_config.yaml   8  20  30  E!
BDL402-other-split           challenge_config.yaml   8  20  30  E!
BDL403-other-label           challenge_config.yaml  15  26  31  W
BDL404-text                  challenge_config.yaml   8  20  30  E!
"""
SETTINGS_PLACES = """
BDL101-no-quotes               1   9   9  E!
BDL102-singular                4   1   7  E!
BDL103-text                    4  11  15  E!
BDL104-no-start                7   3   9  E!
BDL105-precision               5  13  15  E!
BDL106-misspelt                4  18  25  E!
BDL107-profile                 6  20  26  E!
BDL108-words                  10   7  20  E!
BDL109-backwards              10   7  17  E!
BDL109-no-end                  7   3   9  E!
BDL109-overlap                14   9  19  E!
BDL110-misspelt                5  11  20  E!
"""
ROWS = [
    [room, *line.split()]
    for room, places in (("codabench", PLACES), ("evalai", PLACES_OF_EVALAI))
    for line in places.strip().splitlines()
]
SETTINGS_ROWS = [line.split() for line in SETTINGS_PLACES.strip().splitlines()]
OF_PUBLISH = {"BDL111-reference", "BDL112-frames"}
"""Codes of what is made, which test_publication.py makes."""


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs run without another user, which takes a process more to find out."""
    monkeypatch.setattr(trials, "isolations", lambda: iter([("as the same user", [])]))


def bundle(name: str, folder: Path, room: str = "codabench") -> Path:
    """The valid bundle with the files of a fixture in place of its own."""
    target = folder / "bundle"
    if not name.startswith("BDL202"):
        shutil.copytree(FIXTURES / room / "valid/accuracy", target)
    shutil.copytree(FIXTURES / room / "invalid" / name, target, dirs_exist_ok=True)
    return target


def hold(found: Sequence[Finding], code: str, place: Sequence[str], level: str) -> None:
    (only,) = found
    assert only.code == code
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    span = only.span
    found_at = (span.line, span.column, span.end_column) if span else (0, 0, 0)
    assert [*map(str, found_at)] == [*place]
    assert "{" not in only.message + (only.help or "")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(row, tmp_path):
    room, name, file, *place, level = row
    path = bundle(name, tmp_path, room)
    verdict, note = check_bundle(str(path))
    hold(verdict.findings, name.partition("-")[0], place, level)
    assert verdict.findings[0].file == str(path / file if file != "-" else path)
    assert verdict.passed is not level.startswith("E")
    ran = name.startswith("BDL4") and not name.startswith("BDL407")
    harmless = not (level.startswith("E") or name.startswith("BDL407"))
    assert bool(note) is (ran or harmless)


@pytest.mark.parametrize("row", SETTINGS_ROWS, ids=lambda row: row[0])
def test_settings_raise_their_code_at_their_place_and_nothing_else(row):
    name, *place, level = row
    settings = read_settings(str(SETTINGS / f"{name}.toml"))
    checked = () if settings.content is None else settings.check(load("seedev-full"))
    hold([*settings.findings, *checked], name.partition("-")[0], place, level)


def test_every_fixture_has_its_place():
    for room in ("codabench", "evalai"):
        rows = {name for each, name, *_ in ROWS if each == room}
        assert {path.name for path in (FIXTURES / room / "invalid").iterdir()} == rows
    names = {path.stem for path in SETTINGS.iterdir()}
    assert names == {row[0] for row in SETTINGS_ROWS} | OF_PUBLISH


def test_what_is_valid_raises_nothing_and_is_tried():
    verdict, note = check_bundle(str(BASE))
    assert verdict.findings == ()
    assert re.fullmatch(r"the scoring program ran \d+\.\d s as the same user", note)
    verdict, note = check_bundle(str(FIXTURES / "evalai/valid/accuracy"))
    assert verdict.findings == ()
    assert note.startswith("the evaluation script ran")
    settings = read_settings(str(FIXTURES / "publish-toml/valid/seedev.toml"))
    assert [*settings.findings, *settings.check(load("seedev-full"))] == []


def test_archives_in_archives_are_opened(tmp_path):
    """A bundle as most are: an archive with archives of the program and the data."""
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        for path in BASE.iterdir():
            if path.is_file():
                text = path.read_bytes()
                for name in ("program", "reference", "solution"):
                    text = text.replace(f": {name}\n".encode(), f": {name}.zip\n".encode())
                archive.writestr(path.name, text)
                continue
            with zipfile.ZipFile(tmp_path / "inner.zip", "w") as inner:
                for file in path.iterdir():
                    inner.write(file, file.name)
            archive.write(tmp_path / "inner.zip", f"{path.name}.zip")
    verdict, note = check_bundle(str(tmp_path / "bundle.zip"))
    assert (verdict.findings, bool(note)) == ((), True)


def test_unsafe_archives_are_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        archive.writestr("../competition.yaml", "version: 2\n")
    verdict, note = check_bundle(str(tmp_path / "bundle.zip"))
    assert [each.code for each in verdict.findings] == ["SRC111"]
    assert not note


def test_aliases_that_grow_without_end_are_a_problem(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    shutil.copytree(BASE, tmp_path / "bundle")
    (tmp_path / "bundle" / "competition.yaml").write_text("\n".join(lines), "utf-8")
    verdict, _ = check_bundle(str(tmp_path / "bundle"))
    assert [each.code for each in verdict.findings] == ["BDL201"]


@pytest.mark.parametrize(
    ("merge", "codes"),
    [
        ("*usual", []),
        ("[{tasks: [0], index: 9}, *usual]", []),
        ("{tasks: [0], colour: red}", ["BDL205"]),
        ("usual", ["BDL201"]),
    ],
)
def test_mappings_are_merged_as_platforms_merge_them(merge, codes, tmp_path):
    target = tmp_path / "bundle"
    shutil.copytree(BASE, target)
    text = (target / "competition.yaml").read_text("utf-8")
    parts = text.partition("  - index: 1\n    name: Test")
    first = parts[0].replace("phases:\n  - index: 0", "phases:\n  - &usual\n    index: 0")
    last = parts[2].replace("    tasks: [0]\n", "", 1)
    (target / "competition.yaml").write_text(
        f"{first}  - <<: {merge}\n    index: 1\n    name: Test{last}", "utf-8"
    )
    read = yaml.safe_load((target / "competition.yaml").read_text("utf-8")) if not codes else {}
    configuration = Configuration(Bundle(open_source(str(target))), "competition.yaml")
    found = [item.code for item in configuration.check_schema("codabench")]
    assert found == codes
    assert codes or configuration.content["phases"] == read["phases"]


def test_merges_that_grow_without_end_are_a_problem(tmp_path):
    lines = ["a0: &a0 {}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    shutil.copytree(BASE, tmp_path / "bundle")
    (tmp_path / "bundle" / "competition.yaml").write_text("\n".join(lines), "utf-8")
    (found,) = check_bundle(str(tmp_path / "bundle"))[0].findings
    assert found.code == "BDL201"
    assert "too large" in found.message


def test_the_command_checks_a_bundle(tmp_path):
    called = CliRunner().invoke(app, ["publish", "--check", str(BASE)])
    assert called.exit_code == 0
    assert "note: the scoring program ran" in called.stderr
    broken = bundle("BDL208-task-of-a-phase", tmp_path)
    called = CliRunner().invoke(app, ["publish", "--check", str(broken), "--format", "json"])
    assert called.exit_code == 1
    assert json.loads(called.stdout)["findings"][0]["code"] == "BDL208"
    for words in (["seedev-full"], ["--for", "codabench"], []):
        extra = ["--check", str(BASE)] if words else ["seedev-full"]
        assert CliRunner().invoke(app, ["publish", *words, *extra]).exit_code == 2


def test_a_program_runs_apart_if_the_system_can_do_that(monkeypatch, tmp_path):
    """Where it cannot, the note says so."""
    monkeypatch.undo()
    trial = run_apart([sys.executable, "-c", "print()"], tmp_path, 60)
    assert trial.status == 0
    assert trial.isolation in {name for name, _ in isolations()}
    ways = [("by a program that is absent", ["no-such-program"]), ("not at all", [])]
    monkeypatch.setattr(trials, "isolations", lambda: iter(ways))
    assert run_apart([sys.executable, "-c", "print()"], tmp_path, 60).isolation == "not at all"
    assert run_apart(["no-such-program"], tmp_path, 60).status == 127


def test_a_program_that_takes_too_long_ends_with_all_that_it_has_started(tmp_path):
    """Its child holds standard error open, which is read to the end."""
    child = "import time; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.call([sys.executable, '-c', {child!r}])"
    trial = run_apart([sys.executable, "-c", code], tmp_path, 0.5)
    assert trial.status is None
    assert trial.seconds < 30


def places(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The paths of all values of a configuration."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    )
    for key, item in items:
        yield from places(item, (*path, key))


JUNK = (
    None,
    3,
    True,
    "x",
    "9" * 5000,
    float("nan"),
    [],
    {},
    [[{}], None, "a"],
    {"a": [1], "b": {}},
)


@pytest.mark.parametrize(
    ("room", "module", "name"),
    [("codabench", codabench, codabench.NAME), ("evalai", evalai, evalai.NAMES[0])],
)
def test_any_value_in_place_of_another_is_judged(room, module, name, tmp_path):
    shutil.copytree(FIXTURES / room / "valid/accuracy", tmp_path / "bundle")
    file = tmp_path / "bundle" / name
    valid = yaml.load(file.read_text("utf-8"), Loader=yaml.BaseLoader)
    findings = 0
    for path in share(places(valid), 2):
        for junk in JUNK:
            changed = json.loads(json.dumps(valid))
            part = changed
            for step in path[:-1]:
                part = part[step]
            if path:
                part[path[-1]] = junk
            file.write_text(json.dumps(changed if path else junk), "utf-8")
            bundle = Bundle(open_source(str(tmp_path / "bundle")))
            findings += sum(each.severity == "error" for each in module.check(bundle))
    assert findings > 500


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "- 1", "a: &x [*x]", "{[a]: b, {c: d}: e}", "version: !!int abc", "[" * 9000,
        'docker_image: "python:3.' + "9" * 6000 + '"', "version: " + "9" * 6000,
        '!!python/object/apply:os.system ["exit"]', "\x00", "a: 1\n" * 9000,
    ],
)  # fmt: skip
def test_any_text_is_judged(text, tmp_path):
    for room, name in (("codabench", codabench.NAME), ("evalai", evalai.NAMES[0])):
        shutil.copytree(FIXTURES / room / "valid/accuracy", tmp_path / room)
        (tmp_path / room / name).write_text(text, "utf-8")
        verdict, note = check_bundle(str(tmp_path / room))
        assert not verdict.passed
        assert not note


def test_what_a_program_prints_is_kept_in_part(tmp_path):
    code = "import sys; [sys.stderr.write('x' * 99 + chr(10)) for _ in range(30000)]"
    code += "; sys.stderr.write('the end')"
    trial = run_apart([sys.executable, "-c", code], tmp_path, 60)
    assert trial.status == 0
    assert len(trial.errors) <= 150_000
    assert trial.errors.startswith("xxx")
    assert trial.errors.endswith("the end")


def test_an_evaluation_script_that_ends_its_process_returns_nothing(tmp_path):
    target = bundle("BDL402-no-result", tmp_path, "evalai")
    for file in target.rglob("main.py"):
        file.write_text("import os\n\ndef evaluate(*_, **__):\n    os._exit(0)\n", "utf-8")
    for archive in target.rglob("*script*.zip"):
        with zipfile.ZipFile(archive, "w") as inner:
            inner.writestr("__init__.py", "import os\n\ndef evaluate(*_, **__):\n    os._exit(0)\n")
    verdict, _ = check_bundle(str(target))
    assert [each.code for each in verdict.findings] == ["BDL402"]


def test_a_file_and_a_folder_of_one_name_do_not_stop_the_check(tmp_path):
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as inner:
        for file in (BASE / "program").iterdir():
            inner.write(file, file.name)
        inner.writestr("a", "1")
        inner.writestr("a/b", "2")
        inner.writestr("n" * 300, "3")
    shutil.copytree(BASE, tmp_path / "bundle")
    shutil.rmtree(tmp_path / "bundle/program")
    shutil.copy(tmp_path / "program.zip", tmp_path / "bundle/program.zip")
    text = (tmp_path / "bundle/competition.yaml").read_text("utf-8")
    text = text.replace(": program\n", ": program.zip\n")
    (tmp_path / "bundle/competition.yaml").write_text(text, "utf-8")
    verdict, note = check_bundle(str(tmp_path / "bundle"))
    assert [each.code for each in verdict.findings] == ["SRC114"]
    assert not note
