"""The program that fuzzes all readers: its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import __main__ as program
from fuzz.subjects import readers


def test_an_unknown_format_is_refused_before_any_worker_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(program, "subprocess")
    arguments = ["fuzz", "brat", "bratt", "--folder", str(tmp_path / "state")]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        program.main()
    message = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"unknown format bratt; use some of {', '.join(readers())}" in message
    assert not (tmp_path / "state").exists()
