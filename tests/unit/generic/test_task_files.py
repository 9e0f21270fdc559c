"""Declarations of tasks: what is wrong with them, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval
from hlteval.tasks import load
from hlteval.tasks.generic.declaration import WrongTask, read_declaration
from hlteval.tasks.toml_file import NotToml

FIXTURES = Path(__file__).parents[3] / "fixtures" / "task-toml"
PLACES = """
TSK101-no-quotes         2  8   8 E!
TSK102-misspelt          4  1   9 E!
TSK103-text-for-list     4 12  17 E!
TSK104-no-unit           1  2   6 E!
TSK105-misspelt          4  8  15 E!
TSK106-of-mentions       3 10  19 E!
TSK107-of-time           4 10  16 E!
TSK108-misspelt          5  1   7 E!
TSK109-threshold         4  1  10 W
TSK110-pairing           5 11  20 W
TSK111-percent           5 13  15 E!
TSK112-ignored           4 20  25 E!
TSK113-each-other        4 13  16 E!
TSK114-no-macro          5 11  21 E!
TSK115-no-labels         4 14  24 E!
TSK116-above             4  8  28 E!
TSK117-hub4              3  8  14 E!
TSK201-blank-for-colon   4  7  18 W
TSK202-no-such-type      5 25  37 E!
TSK203-only-relations    1  1   1 E!
"""
ROWS = [line.split() for line in PLACES.split("\n") if line]


def path_of(name: str) -> Path:
    """The declaration of a fixture, which is a file or a folder."""
    file = FIXTURES / "invalid" / f"{name}.task.toml"
    return file if file.exists() else FIXTURES / "invalid" / name / "people.task.toml"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_mistake_is_reported_at_its_place(row: list[str]) -> None:
    name, *place, level = row
    (found,) = read_declaration(str(path_of(name))).findings
    assert found.code == name[:6]
    assert found.span
    assert [found.span.line, found.span.column, found.span.end_column] == list(map(int, place))
    assert found.severity.value[0].upper() + "!" * found.blocking == level
    assert found.help
    assert "{" not in found.message + found.help


def test_every_fixture_is_tried() -> None:
    names = {path.name.partition(".")[0] for path in (FIXTURES / "invalid").iterdir()}
    assert names == {row[0] for row in ROWS}


def test_a_sound_declaration_is_a_task() -> None:
    path = str(FIXTURES / "valid" / "people.task.toml")
    assert read_declaration(path).findings == ()
    task = load(path)
    assert (task.name, task.display_name) == (path, "people")
    assert task.profiles == ("plan", "official")
    assert "weighted.f1" not in task.metrics
    assert "macro.f1" in task.metrics


def test_errors_come_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.task.toml"
    path.write_text(
        '[task]\nunit = "mentions"\npreset = "seqevall"\n[read]\nformt = "brat"\n'
        '[labels]\ndeclared = "PER"\n[match]\nspan = "iou"\nthreshold = 7\n'
    )
    with pytest.raises(WrongTask) as caught:
        load(str(path))
    codes = [item.code for item in caught.value.findings]
    assert sorted(codes) == ["TSK103", "TSK106", "TSK108", "TSK111"]
    assert f"{path}:3:10: unknown preset seqevall; did you mean seqeval?" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[match]\n[match]\n", "not valid TOML: cannot declare [match] twice"),
        ("[a.b]\n[a.b]\n", "not valid TOML: cannot declare [a.b] twice"),
    ],
)
def test_tables_are_named_as_toml_writes_them(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.task.toml"
    path.write_text(text)
    assert [item.message for item in read_declaration(str(path)).findings] == [message]


def test_a_folder_is_not_a_declaration(tmp_path: Path) -> None:
    with pytest.raises(NotToml, match="is a folder"):
        read_declaration(str(tmp_path))


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.task.toml"
    path.write_text('[task]\nunit = "mentions"\ntitle = "First"\n')
    assert load(str(path)).title == "First"
    path.write_text('[task]\nunit = "mentions"\ntitle = "Second one"\n')
    assert load(str(path)).title == "Second one"


def test_python_declares_by_keywords() -> None:
    task = hlteval.task(unit="mentions", name="people", labels={"declared": ["Person"]})
    assert load(task.name) is task
    assert task.schema().labels == ("Person",)
    with pytest.raises(ValueError, match="unknown key lables in the declaration; did you mean"):
        hlteval.task(unit="mentions", lables={})
    with pytest.raises(TypeError, match="expected the path"):
        hlteval.task()
