"""mypy checks what declarations name, though it is imported only where it is used."""

from __future__ import annotations

from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[2]
DECLARATIONS = """
from collections.abc import Callable
from hlteval.extensions import lazy

FUNCTION: Callable[[int, int], int] = lazy("math:gcd")
VALUE: Callable[[], str] = lazy("string:digits")
CLASS: Callable[[str], object] = lazy("pathlib:Path")
WRONG_VALUE: Callable[[], str] = lazy("math:pi")
WRONG_FUNCTION: Callable[[], str] = lazy("statistics:mean")
MISSING: Callable[[], str] = lazy("string:nothing")
"""


def test_a_declaration_of_another_type_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "declarations.py"
    path.write_text(DECLARATIONS, "utf-8")
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    output, errors, status = api.run([*config, "--no-color-output", str(path)])
    assert (errors, status) == ("", 1)
    lines = [line.rpartition(".py:")[2] for line in output.splitlines() if ": error: " in line]
    assert [line.partition(":")[0] for line in lines] == ["8", "9", "10"], output
    assert "string:nothing names nothing with a type" in lines[-1]
