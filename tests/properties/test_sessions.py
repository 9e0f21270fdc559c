"""Editors over damaged files: a small sample of `python -m fuzz.sessions`."""

from __future__ import annotations

import pytest

from fuzz.sessions import trial, watched
from fuzz.subjects import readers
from tests.effort import share


@pytest.mark.thorough
def test_no_damaged_file_stops_the_language_server_or_makes_it_write() -> None:
    with watched() as folder:
        results = [trial(name, 0, folder) for name in share(readers()) if name != "corpus"]
    assert not [result.failure for result in results if result.failure]
    assert sum(result.diagnostics for result in results)
    assert sum(result.requests for result in results)
