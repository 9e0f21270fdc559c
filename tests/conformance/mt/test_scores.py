"""The values of METEOR 1.5, BLEU, chrF and TER in the shared cases: whole, by document, subsets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from hlteval.converters import load
from hlteval.representation import Corpus, align
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt.measures import PARAPHRASES, MeteorMeasure, packaged_jar
from hlteval.scoring.mt.metric import Translation
from hlteval.scoring.mt.segments import METRICS, TranslationOptions
from hlteval.scoring.mt.strings import Segments
from hlteval.sources import open_source

pytestmark = pytest.mark.long("METEOR loads its paraphrases")

FIRST = "segment-0"


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "ltf-mt-packaging"


@pytest.fixture(scope="module")
def meteor() -> Iterator[MeteorMeasure]:
    """METEOR with its paraphrases, which takes long to start."""
    jar = packaged_jar()
    if shutil.which("java") is None:
        pytest.skip("METEOR NOT CHECKED: no Java")
    if jar is None or not (jar.parent / PARAPHRASES).is_file():
        pytest.skip("METEOR NOT CHECKED: no jar, install the extra mt")
    measure = MeteorMeasure()
    yield measure
    measure.finish()


def corpus(path: Path) -> Corpus:
    return Corpus.concat(
        result.corpus for result in load("lorehlt-mt").read(open_source(str(path)))
    )


def metric(meteor: MeteorMeasure, **options: object) -> Translation:
    """The metric with the process that runs."""
    found = Translation(options=TranslationOptions(metrics=METRICS, **options))
    found.__dict__["measures"] = {**found.measures, "meteor": meteor}
    return found


def scored(meteor: MeteorMeasure, reference: Path, system: Path, **options: object):
    scoring = metric(meteor, **options)
    counts, _ = scoring.statistics(*align(corpus(reference), corpus(system)))
    return scoring.score(scoring.total([counts]))


@pytest.fixture(scope="module")
def synthetic(meteor: MeteorMeasure, cases: Path):
    return scored(meteor, cases / "syn_valid/ref", cases / "syn_valid/mt")


@pytest.mark.thorough
def test_the_synthetic_set(synthetic):
    values, tables = synthetic
    assert values["segments"] == 248
    assert tables["documents"].height == 24
    assert round(values["meteor"], 4) == 0.4483
    assert round(tables["documents"]["meteor"].mean(), 4) == 0.4562
    assert round(tables["segments"]["meteor"].mean(), 4) == 0.5239
    assert round(values["bleu"], 2) == 57.43
    assert round(values["chrf"], 2) == 75.01
    assert round(values["ter"], 2) == 23.74


@pytest.mark.thorough
def test_the_first_segments_of_the_synthetic_set(meteor, cases, synthetic):
    pairs = frozenset((name, FIRST) for name in synthetic[1]["documents"]["document"])
    reference, system = cases / "syn_valid/ref", cases / "syn_valid/mt"
    values, _ = scored(meteor, reference, system, subset=pairs)
    assert round(values["meteor"], 4) == 0.4582
    assert round(values["bleu"], 2) == 62.06


@pytest.mark.thorough
def test_the_example_of_the_plan(meteor, cases):
    """The first two segments of the example of five; the texts of the others are not kept."""
    _, tables = scored(meteor, cases / "mt_ref", cases / "mt")
    found = tables["segments"].select(pl.col("meteor").round(4), pl.col("bleu", "chrf").round(2))
    assert found.rows() == [(0.1039, 7.72, 42.1), (0.4646, 40.94, 82.96)]
    assert tables["segments"]["ter"].round(2).to_list() == [85.71, 25.0]


@pytest.mark.thorough
def test_sums_are_scored_as_the_jar_scores_them(meteor, cases):
    """EVAL of the jar, of segments and of all of them, is the formula on our counts."""
    reference, system = corpus(cases / "syn_valid/ref"), corpus(cases / "syn_valid/mt")
    texts = [each.translations["text"].to_list()[:60] for each in (system, reference)]
    texts[1][0] = texts[0][0]  # an equal one
    texts[1][1] = "-"
    raw = meteor.jar_counts(texts[0], [[text] for text in texts[1]])
    *each, whole = meteor.jar_scores(raw)
    own = meteor.counts(Segments(texts[0], [[text] for text in texts[1]]))
    assert meteor.values(own)[""].tolist() == pytest.approx(each, abs=1e-12)
    assert meteor.values(own.sum(axis=0, keepdims=True))[""][0] == pytest.approx(whole, abs=1e-12)
    assert each[0] == 1.0


@pytest.mark.thorough
def test_several_references_and_traps(meteor):
    texts = ["the cat sat ||| here", "a\r\nb", "the dog ran", ""]
    references = [["the cat ||| sat"], ["a b"], ["no match", "the dog ran"], ["x"]]
    scores = meteor.values(meteor.counts(Segments(texts, references)), alone=True)[""]
    assert scores[1:].tolist() == [1.0, 1.0, 0.0]
    assert 0.4 < scores[0] < 1


@pytest.mark.thorough
def test_protected_words_are_words_of_meteor(meteor):
    from hlteval.scoring.mt.segments import with_placeholders

    text = with_placeholders("see https://example.org/a and @user")
    counts = meteor.counts(Segments([text], [["x"]]))
    assert counts[0, 0] == 4


def test_a_jar_that_is_damaged(tmp_path):
    if shutil.which("java") is None:
        pytest.skip("METEOR NOT CHECKED: no Java")
    jar = tmp_path / "meteor-1.5.jar"
    jar.write_bytes(b"no jar")
    with pytest.raises(CannotCount) as caught:
        MeteorMeasure(str(jar), paraphrases=False).counts(Segments(["a"], [["a"]]))
    assert caught.value.finding.code == "MTS104"
    assert "Invalid or corrupt jarfile" in caught.value.finding.message
