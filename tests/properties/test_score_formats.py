"""Tables in JSON: what is written fast is what a JSON library writes."""

from __future__ import annotations

import json

import msgspec
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from hlteval.reports.scores import json as shown
from hlteval.reports.terminal import escape_json
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCHEMA = {
    "text": pl.String,
    "count": pl.Int64,
    "value": pl.Float64,
    "right": pl.Boolean,
    "missing": pl.List(pl.String),
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | TEXT,
            "count": st.none() | st.integers(-(2**63), 2**63 - 1),
            "value": st.none() | st.floats(),
            "right": st.none() | st.booleans(),
            "missing": st.none() | st.lists(TEXT, max_size=2),
        }
    ),
    max_size=4,
)


@given(rows=ROWS, name=TEXT)
def test_tables_are_written_as_msgspec_writes_them(
    rows: list[dict[str, object]], name: str
) -> None:
    tables = {name: pl.DataFrame(rows, schema=SCHEMA), "more": pl.DataFrame({"x": [[1], [2]]})}
    scores = Scores(
        task="t",
        profile="plan",
        signature="s",
        primary="f1",
        metrics={"f1": None},
        intervals={"f1": (0.5, 1.0)},
        tables=tables,
        verdict=Verdict("t", "plan", passed=True),
    )
    encoded = escape_json(msgspec.json.encode(scores.to_dict()))
    assert shown(scores) == encoded.decode() + "\n"
    listed = json.loads(shown(scores))["tables"][name]
    assert len(listed) == (len(rows) if name != "more" else 2)
