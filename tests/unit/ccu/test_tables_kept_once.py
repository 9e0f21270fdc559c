"""Tables of CCU are kept once: a reference has millions of rows."""

from __future__ import annotations

from pathlib import Path

from hlteval.converters.ccu.reference import NORMS, kinds
from hlteval.converters.ccu.tables import Tables
from hlteval.sources import open_source

ANNOTATION = Path(__file__).parents[3] / "fixtures/ccu-reference/valid/annotation"


def test_rows_that_are_taken_are_not_kept_but_their_lines_are():
    tables, kind = Tables("annotation", "ccu-reference"), kinds()[NORMS]
    source = open_source(str(ANNOTATION))
    (member,) = (file for file in source.members if file.name.endswith("norms.tab"))
    tables.read(member, kind)
    rows = tables.take_rows(kind)
    assert rows.height > 1
    assert tables.take_rows(kind).is_empty()
    tables.problems("CCR121", rows.head(1).with_columns(segment_id="region"), "label")
    (found,) = tables.findings()
    assert found.excerpt is not None
    assert rows["label"][0] in found.excerpt.text
