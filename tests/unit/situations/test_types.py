"""Hints for unknown types of situation frames."""

from __future__ import annotations

import pytest

from hlteval.converters.situations.types import names, type_hint


@pytest.mark.parametrize(
    ("unknown", "hint"),
    [
        ("water  supply", "did you mean Water Supply? It differs only in case or spacing"),
        ("Medical Asistance", "did you mean Medical Assistance?"),
        ("Terrorism", "did you mean Terrorism or other Extreme Violence?"),
        ("Supply", f"use one of: {'; '.join(names())}"),
        ("or", f"use one of: {'; '.join(names())}"),
        ("", f"use one of: {'; '.join(names())}"),
    ],
)
def test_a_hint_names_the_type_that_was_probably_meant(unknown: str, hint: str) -> None:
    assert type_hint(unknown) == hint
