"""Options of translations: metrics, subsets, and situation frames."""

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory
from hlteval.findings import finding
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import Corpus
from hlteval.scoring.mt.segments import FRAMES, METRICS, Pairs
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.option_files import FileValue, contradictions, has_error, read_rows, read_table

SUBSET = Table((Column("document"), Column("segment")), code="OPT101")
SF_SCORES = Table(
    (
        Column("document"),
        Column("input", heading="source, reference or mt", pattern="source|reference|mt",
               code="MTS201"),
        Column("score", "number", pattern=r"-?[0-9]{1,9}(?:\.[0-9]*)?(?:[eE]-?[0-9]{1,2})?",
               code="MTS202"),
    ),
    code="OPT101",
)  # fmt: skip


def ranking_metric(options: Mapping[str, str]) -> str:
    """The metric that ranks: METEOR, which the plan names, or the first one that is computed.

    Examples:
        >>> ranking_metric({}), ranking_metric({"metrics": "bleu,meteor"})
        ('bleu', 'meteor')
        >>> ranking_metric({"metrics": "ter, bleu"})
        'ter'
    """
    names = [name.strip() for name in options.get("metrics", "bleu").split(",")]
    return "meteor" if "meteor" in names else names[0]


def metrics(names: Sequence[str], _: Mapping[str, str]) -> tuple[str, ...]:
    """The names of metrics, each once.

    Raises:
        ValueError: for an unknown name, or none.

    Examples:
        >>> metrics(["chrf", "bleu", "chrf"], {})
        ('chrf', 'bleu')
    """
    for name in names:
        if name not in METRICS:
            hint = did_you_mean(name, METRICS, f"use some of {', '.join(METRICS)}")
            raise ValueError(f"unknown metric {name}; {hint}")
    if not names:
        raise ValueError(f"name some of {', '.join(METRICS)}")
    return tuple(dict.fromkeys(names))


def subset(source: Source, _: Mapping[str, str]) -> FileValue:
    """The segments of a subset.

    Args:
        source: a table without a header: document, segment.
    """
    rows, findings = read_table(source, SUBSET)
    pairs: Pairs = frozenset(rows.select("document", "segment").iter_rows())
    if not (pairs or has_error(findings)):
        findings.append(finding("OPT109", file=source.path, title="document, tab, segment"))
    return FileValue(pairs, findings)


def sf_scores(source: Source, _: Mapping[str, str]) -> FileValue:
    """The scores of situation frames, by what they were found in and by document.

    Args:
        source: a table without a header: document; `source`, `reference` or `mt`; score. Of a
            document that occurs several times, the last line counts.
    """
    key = pl.concat_str("document", "input", separator=" and ")
    rows, findings = read_table(
        source, SF_SCORES, lambda parsed: contradictions(parsed, key, "score", "last score")
    )
    found: dict[str, dict[str, float]] = {}
    for document, name, score in rows.select("document", "input", "score").iter_rows():
        found.setdefault(name, {})[document] = score
    return FileValue(found, findings)


def frames(source: Source, _: Mapping[str, str], *, forms: Sequence[str]) -> FileValue:
    """The situation frames of a source (`FRAMES`), in the first of several formats that fits."""
    formats = [load(name) for name in forms]
    fitting = (form for form in formats if form.sniff(source))
    form = in_memory(source) or next(fitting, formats[0])

    def rows(corpus: Corpus) -> pl.DataFrame:
        documents = corpus.documents.select("row", "name")
        situations = corpus.frames.filter(pl.col("kind") == "situation").join(
            documents, left_on="document", right_on="row", maintain_order="left"
        )
        return situations.select(
            type="label", place="place_kb", segment="justification", document="name"
        ).select(*FRAMES)

    return read_rows(form, source, rows, formats[0].title)
