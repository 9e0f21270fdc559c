"""Options that stand in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.tasks import load
from hlteval.tasks.options import merge_options
from hlteval.tasks.task import WrongOption


def read(folder: Path, text: str, **given: str) -> dict[str, str]:
    path = folder / "hub4.toml"
    path.write_text(text, "utf-8")
    return merge_options(load("hub4"), {"options": str(path), **given})


def test_a_file_gives_what_the_command_line_could(tmp_path: Path) -> None:
    text = """
        unscored = ["DOC_NR", "COMMENT"]
        type-order = "BREAD,CIRCUS"
        noisy = true
        align = false
        beta = 2
        whiteout = ".,"
    """
    assert read(tmp_path, text) == {
        "unscored": "DOC_NR,COMMENT",
        "type_order": "BREAD,CIRCUS",
        "noisy": "yes",
        "beta": "2",
        "whiteout": ".,",
    }


def test_the_command_line_counts_before_the_file(tmp_path: Path) -> None:
    assert read(tmp_path, "beta = 2\nmode = 'extent'", beta="3") == {"beta": "3", "mode": "extent"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("whitout = '.'", "unknown option whitout of hub4; did you mean whiteout"),
        ("options = 'other.toml'", "unknown option options"),
        ("noisy = 'yes'", "noisy takes true or false"),
        ("beta = true", "beta takes a value, not true or false"),
        ("beta = 1979-05-27", "must be a string, a number or a list"),
        ("[beta]\nx = 1", "must be a string, a number or a list"),
        ("fillers = [true]", "fillers takes a value, not true or false"),
        ("beta = ", "is not valid TOML"),
        ("a = " + "[" * 5000 + "]" * 5000, "is not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_an_error_of_usage(
    text: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongOption, match=told):
        read(tmp_path, text)


def test_a_task_without_such_an_option_takes_the_rest_as_it_is() -> None:
    assert merge_options(load("speech-sf"), {"place_match": "exact"}) == {"place_match": "exact"}
    assert merge_options(load("hub4"), {"beta": "2"}) == {"beta": "2"}


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        merge_options(load("hub4"), {"options": str(tmp_path / "absent.toml")})
