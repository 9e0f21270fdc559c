"""Names of systems: files of names, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.tasks.task import WrongOption
from hlteval.workflows.compare.comparison import system_names

INVALID = Path(__file__).parents[3] / "fixtures" / "leaderboard" / "invalid"
PATHS = ["runs/bold.tpl", "runs/careful.tpl", "a/run.tpl", "b/run.tpl"]

# What each file of names raises, and where: line, column, end column (0: the file); then E for an
# error, W for a warning, and ! where it blocks.
FIXTURES = """
LDB101-space-for-tab.tsv     2   1  12  E!
LDB102-misspelt.tsv          2   1   9  W
LDB103-one-team.tsv          2   6  12  E!
LDB103-name-of-a-file.tsv    1   9  13  E!
LDB104-two-folders.tsv       2   1   4  E!
LDB105-twice.tsv             2   1  12  E!
LDB106-nothing.tsv           0   0   0  W
LDB107-no-name.tsv           2  10  11  E!
"""


@pytest.mark.parametrize("line", FIXTURES.strip().splitlines(), ids=lambda line: line.split()[0])
def test_a_file_of_names_raises_its_code_and_nothing_else(line: str) -> None:
    name, *place, level = line.split()
    _, (found,) = system_names(PATHS, str(INVALID / name))
    assert found.code == name.partition("-")[0]
    assert found.severity.value[0].upper() + "!" * found.blocking == level
    assert (found.side, found.file) == ("--names", str(INVALID / name))
    span = [found.span.line, found.span.column, found.span.end_column] if found.span else [0, 0, 0]
    assert span == [*map(int, place)]
    assert "{" not in found.message + (found.help or "")


def test_every_fixture_is_here() -> None:
    assert {line.split()[0] for line in FIXTURES.strip().splitlines()} == {
        path.name for path in INVALID.iterdir()
    }


def test_names_are_of_paths_of_files_and_of_files_without_suffix(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    lines = ("runs/bold.tpl\tB", "careful\tTeam <A> & 大 ", "", "a/run\tFirst", "b/run.tpl\tbold")
    names.write_text("\r\n".join(lines), "utf-8")
    by_path, findings = system_names(PATHS, str(names))
    assert findings == []
    assert [*by_path.values()] == ["B", "Team <A> & 大", "First", "bold"]


def test_without_a_file_names_are_short() -> None:
    assert [*system_names(PATHS)[0].values()] == ["bold", "careful", "a/run", "b/run"]


def test_the_closest_submission_is_suggested() -> None:
    _, (found,) = system_names(PATHS, str(INVALID / "LDB102-misspelt.tsv"))
    assert found.help == "did you mean bold.tpl?"


def test_a_folder_is_not_a_file_of_names() -> None:
    with pytest.raises(WrongOption, match="is not a file of names"):
        system_names(PATHS, str(INVALID))
