"""Annotation files of neleval as the public scorer ships them and makes them."""

from __future__ import annotations

from pathlib import Path

from hlteval import convert
from hlteval.converters import load
from hlteval.sources import open_source


def reading(path):
    return next(iter(load("neleval").read(open_source(str(path)))))


def test_the_scorer_s_own_examples_are_read(shared):
    for path in (shared / "cases/edl/shipped").glob("*unstitched.tsv"):
        assert reading(path).findings == ()


def test_the_pipeline_s_conversion_and_that_of_tac15(shared, tmp_path):
    folder = shared / "cases/edl/ldc_edl"
    out = str(tmp_path / "out")
    convert(str(folder / "gold.tab"), out, to_format="neleval", settings={"conversion": "tac15"})
    expected = sorted((folder / "gold.tsv").read_text("utf-8").splitlines())
    assert sorted(Path(out).read_text("utf-8").splitlines()) == expected
    convert(str(folder / "gold.tab"), out, to_format="neleval", force=True)
    plain = [line.removesuffix("/NAM") for line in expected]
    assert sorted(Path(out).read_text("utf-8").splitlines()) == sorted(plain)
