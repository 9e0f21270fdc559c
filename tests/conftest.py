"""Fixtures that several rooms of the tests use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
