"""seqeval beside ours, on random sequences of tags in all schemes."""

from __future__ import annotations

import warnings
from math import nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.representation.tag_schemes import ALLOWED
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.mentions import Options
from hlteval.scoring.generic.official_seqeval import OfficialSeqeval
from hlteval.sources import open_source
from hlteval.tasks.generic.declaration import presets
from tests.effort import tries

metrics = pytest.importorskip("seqeval.metrics")
schemes = pytest.importorskip("seqeval.scheme")
#: The strict mode without a scheme.
FOUND = "found"
TYPES = ("X", "Y-Z", "-W-")


@st.composite
def cases(draw):
    """A scheme, one that is to be found, or none; and the same sentences with two sequences."""
    scheme = draw(st.sampled_from([None, FOUND, *ALLOWED]))
    letters = ALLOWED.get(scheme, "IOBESLU.")
    if scheme == FOUND:
        letters = draw(st.sampled_from(["IO", "O", "OS", "OU", "S", "U", "BIS", *ALLOWED.values()]))
    tag = st.builds(
        lambda letter, kind: letter if letter in "O." or not kind else f"{letter}-{kind}",
        st.sampled_from(letters),
        st.sampled_from([*TYPES, ""]),
    )
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    sides = [[draw(st.lists(tag, min_size=n, max_size=n)) for n in sizes] for _ in "gp"]
    return scheme, *sides, draw(st.sampled_from([0, 1]))


def corpus(path, sentences):
    lines = ("\n".join(f"w{at}\t{tag}" for at, tag in enumerate(tags)) for tags in sentences)
    path.write_text("\n\n".join(lines) + "\n", "utf-8")
    (result,) = load("conll-columns").read(open_source(str(path)))
    return result.corpus


@given(case=cases())
@settings(max_examples=tries(1000), deadline=None)
def test_official_equals_the_tool(case, tmp_path_factory):
    scheme, gold, predicted, zero = case
    folder = tmp_path_factory.mktemp("seqeval")
    sides = [corpus(folder / f"{at}.conll", tags) for at, tags in enumerate((gold, predicted))]
    chosen = {"mode": "strict", "scheme": scheme} if scheme in ALLOWED else {}
    chosen |= {"mode": "strict"} if scheme == FOUND else {}
    values = presets()["seqeval"]["values"] | {"undefined": zero} | chosen
    metric = OfficialSeqeval("official", Options(**values))
    counts, _ = metric.statistics(*sides)
    found, tables = metric.score(metric.total([counts]))
    given_scheme = {"mode": "strict"} if scheme else {}
    given_scheme |= {"scheme": getattr(schemes, scheme)} if scheme in ALLOWED else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = metrics.classification_report(
                gold, predicted, output_dict=True, zero_division=zero, **given_scheme
            )
        except ValueError:  # no scheme has these prefixes
            assert scheme == FOUND
            assert not [name for name, value in found.items() if value is not None]
            return
    for title, row in report.items():
        average = title.removesuffix(" avg")
        own = {rate: found.get(f"{average}.{rate}") for rate in RATES}
        if average == title:
            (own,) = tables["labels"].filter(label=title).to_dicts()
            assert own["support"] == row["support"]
        wanted = {rate: row["f1-score" if rate == "f1" else rate] for rate in RATES}
        ours = {rate: nan if own[rate] is None else own[rate] for rate in RATES}
        assert ours == pytest.approx(wanted, abs=1e-9, nan_ok=True), title
    assert found["token_accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
