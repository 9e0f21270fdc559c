"""Error analysis between systems: whatever they have, the counts of each are the margins."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.scoring.errors import EXTRA, REFERENCE, ItemColumns, analyse_errors
from hlteval.scoring.metric import Evidence
from tests.effort import tries

COLUMNS = ItemColumns(
    key={REFERENCE: ["reference"], EXTRA: ["system"]},
    text={REFERENCE: ["reference"], EXTRA: ["system"]},
    label=["reference", "system"],
)
TYPES = dict.fromkeys(("document", "reference", "system", "_kind"), pl.String)
Row = tuple[str, str | None, str | None, str]


@st.composite
def alignments(draw: st.DrawFn) -> list[pl.DataFrame]:
    """Alignments of two or three systems with one reference, in which items may be equal."""
    words, documents = st.sampled_from("xyz"), st.sampled_from(["d", "e"])
    items = draw(st.lists(st.tuples(documents, words), max_size=8))
    frames = []
    for _ in range(draw(st.integers(2, 3))):
        rows: list[Row] = []
        for document, word in items:
            kind = draw(st.sampled_from(["correct", "different", "missing"]))
            rows.append((document, word, None if kind == "missing" else word, kind))
        extra = draw(st.lists(st.tuples(documents, words), max_size=5))
        rows += [(document, None, word, "extra") for document, word in extra]
        order = draw(st.permutations(rows))
        frame = pl.DataFrame(order, schema=TYPES, orient="row")
        frames.append(frame.with_columns(outcome="_kind"))
    return frames


@settings(max_examples=tries(60))
@given(alignments())
def test_the_counts_of_each_system_are_the_margins(frames: list[pl.DataFrame]) -> None:
    sides = dict(zip("ABC", frames, strict=False))
    errors = analyse_errors(COLUMNS, sides, dict.fromkeys(sides, Evidence()))
    assert errors.items.height == errors.to_frame().height
    for by in ("", "document", "label"):
        for pair in errors.counts(by).iter_rows(named=True):  # type: ignore[arg-type]
            assert not pair["unpaired"]
            for side, other in (("first", "second"), ("second", "first")):
                own = sides[pair[side]]
                if by == "label":
                    own = own.filter(pl.coalesce("reference", "system") == pair[by])
                elif by:
                    own = own.filter(pl.col(by) == pair[by])
                became = own["_kind"].to_list()
                assert pair["both_right"] + pair[f"only_{side}"] == became.count("correct")
                assert pair["both_extra"] + pair[f"only_{side}_extra"] == became.count("extra")
                wrong = became.count("different") + became.count("missing")
                assert pair["both_wrong"] + pair[f"only_{other}"] == wrong
