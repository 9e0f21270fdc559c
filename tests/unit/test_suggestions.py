"""Every code about a name outside a closed vocabulary suggests the closest name."""

from __future__ import annotations

import pytest

from hlteval.converters.situations.types import names
from hlteval.findings import Entry, catalogue
from hlteval.findings.suggest import suggestion

ABOUT_NAMES = [entry for entry in catalogue().values() if entry.unknown]
TITLES = (
    "unknown type",
    "unknown key",
    "unknown situation type",
    "unknown property",
    "unknown attr",
)


@pytest.mark.parametrize("entry", ABOUT_NAMES, ids=lambda entry: entry.code)
def test_a_misspelt_name_is_suggested(entry: Entry) -> None:
    assert entry.unknown in entry.fields
    if not entry.known:  # its reader or rule makes the hint, from the whole vocabulary
        assert "{hint}" in entry.help
        return
    assert entry.known in entry.fields
    values = dict.fromkeys(entry.fields, "x")
    values |= {entry.unknown: "recurent", entry.known: "past, current, recurrent or future"}
    found = entry.finding(values)
    assert (found.help or "").startswith("did you mean recurrent? ")
    found = entry.finding({**values, entry.unknown: "zzzz"})
    assert "did you mean" not in (found.help or "")
    found = entry.finding({**values, entry.known: "write NAM"})
    assert "did you mean" not in (found.help or "")


def test_codes_about_unknown_names_are_declared() -> None:
    titled = {code for code, entry in catalogue().items() if entry.title.lower().startswith(TITLES)}
    assert titled <= {entry.code for entry in ABOUT_NAMES}


@pytest.mark.parametrize(
    ("name", "listed", "hint"),
    [
        ("agent", "Agent, Process or Tissue", "did you mean Agent?"),
        ("Moleculee", "use Molecule or Tissue", "did you mean Molecule?"),
        ("Molecule", "Molecule", ""),
        ("water suply", ", ".join(names()), "did you mean Water Supply?"),
    ],
)
def test_names_of_lists_are_compared(name: str, listed: str, hint: str) -> None:
    assert suggestion(name, listed) == hint
