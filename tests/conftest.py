"""Fixtures that several rooms of the tests use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

Golden = Callable[[Path, str], None]


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """Holds that a file has exactly the given text; with --update-golden, writes it instead."""
    update: bool = request.config.getoption("--update-golden")

    def compare(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert path.is_file(), f"{path} is missing; --update-golden writes it"
        assert path.read_bytes().decode() == text

    return compare


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """The commands of an application, which typer would build again for each call of a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield
