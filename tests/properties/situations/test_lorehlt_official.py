"""`official` of LoReHLT situation frames: a list of documents only removes rows."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.metric import SituationRanking
from hlteval.scoring.situations.lorehlt.plan import Scores
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions
from hlteval.sources import Member, Source
from tests.effort import tries
from tests.unit.situations.lorehlt_frames import corpus, said

NEEDS = (
    "user_id\tdoc_id\tframe_id\tneed_type\tplace_id\tneed_status\tscope\tseverity"
    "\tresolution_status\tkb_id"
)
SPEECH = (
    "file_id\tsituation_id\tsituation_type\tsituation_status\tscope\tseverity"
    "\tresolution_status\tplace_id"
)
TEXTS, SPOKEN = ("D1", "D2", "D3", "D4"), ("S1", "S2", "71")
DEGREES = st.sampled_from(["2_largegroup", "3", "none", ""])
NEED = st.tuples(
    st.sampled_from(["7", "8", "9"]),
    st.sampled_from(["food", "water"]),
    st.sampled_from(["E1", "none"]),
    st.sampled_from(["current", "none"]),
    DEGREES,
    st.sampled_from(["insufficient", "none"]),
    st.sampled_from(["1", "1|2", "NIL1", ""]),
)
SAID = st.tuples(
    st.sampled_from(SPOKEN),
    st.sampled_from(["food", "out-of-domain"]),
    DEGREES,
    st.sampled_from(["1", "01", "NIL", "NIL1", ""]),
)
FLAGS = ("docid", "type", "place", "status", "urgent", "unresolved", "current", "annotator")


@st.composite
def annotations(draw: st.DrawFn) -> dict[str, str]:
    """Tables by their paths: a file of needs for each text, two files of speech."""
    files = {}
    for doc in TEXTS:
        rows = draw(st.lists(NEED, min_size=1, max_size=4))
        lines = [
            f"{user}\t{doc}\tF{number}\t{kind}\t{place}\t{status}\t{scope}\t\t{relief}\t{entry}"
            for number, (user, kind, place, status, scope, relief, entry) in enumerate(rows)
        ]
        files[f"needs/{doc}.needs.tab"] = "\n".join([NEEDS, *lines, ""])
    for name in ("a", "b"):
        rows = draw(st.lists(SAID, min_size=1, max_size=4))
        lines = [
            f"F{number}\t{doc}\t{kind}\tCurrent\t{scope}\t2_injury\tSufficient\t{entry}"
            for number, (doc, kind, scope, entry) in enumerate(rows)
        ]
        files[f"speech/{name}.speech.tab"] = "\n".join([SPEECH, *lines, ""])
    return files


def compared(files: dict[str, str], scored: tuple[str, ...] | None) -> Scores:
    members = [Member(path, path, None, text.encode) for path, text in sorted(files.items())]
    results = load("lorehlt-sf-reference").read(Source("x", "folder", tuple(members)))
    reference = Corpus.concat(result.corpus for result in results)
    system = corpus([said(doc, confidence=0.5) for doc in (*TEXTS, "S1", "S2")])
    metric = SituationRanking("official", RankingOptions(scored=scored))
    total = metric.total([metric.statistics(reference, system)[0]])
    return metric.scores(total)


@given(annotations(), st.sets(st.sampled_from([*TEXTS, "S1", "S2"]), min_size=1))
@settings(max_examples=tries(25), deadline=None)
def test_a_list_only_removes_rows(files, listed):
    """Annotators are drawn, and columns are numbers or text, before the list is looked at."""
    every, some = compared(files, None).single, compared(files, (*sorted(listed),)).single
    for whole, part, fields in (
        (every.reference, some.reference, FLAGS),
        (every.system, some.system, ("docid", "type", "confidence")),
    ):
        kept = whole.filter(pl.col("docid").is_in(sorted(listed)))
        assert part.select(fields).rows() == kept.select(fields).rows()
