"""Annotators: the annotation of each, from files of their own or from one file that names them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import msgspec
import polars as pl

from hlteval.converters import Format
from hlteval.findings import REFERENCE, FieldRef, Finding, Findings, entry
from hlteval.representation import TABLES, Corpus
from hlteval.results.verdict import Verdict
from hlteval.sources import Member, Unreadable
from hlteval.workflows.checks import Check
from hlteval.workflows.refusals import NOTHING_TO_SCORE, Refused
from hlteval.workflows.signatures import digest_of
from hlteval.workflows.steps import Step
from hlteval.workflows.validation import opened_check

CODES = ("AGR",)
"""The codes of the findings about annotators, or their prefixes."""
_FOLLOWING = frozenset({"AGR101", "AGR103", "AGR104"})
"""The codes that follow from what cannot be read."""
_HAVING = tuple(
    name for name, table in TABLES.items() if "annotator" in table.schema and name != "documents"
)
"""The tables whose rows name their annotator."""


@dataclass(frozen=True)
class Annotator:
    """What one annotator annotated.

    Attributes:
        name: of the annotator.
        corpus: the annotation.
        documents: the names of the documents that count as annotated.
        members: the files of `corpus.sources`, in order.
        form: the format of these files, which finds places in them.
        check: the check of the annotation.
        verdict: its verdict.
    """

    name: str
    corpus: Corpus
    documents: tuple[str, ...]
    members: tuple[Member, ...]
    form: Format
    check: Check
    verdict: Verdict

    @property
    def digest(self) -> str:
        """The digest of the files."""
        return digest_of(self.corpus.sources.select("member", "format", "sha256").rows())


def read(path: str, name: str, step: Step, **arguments: Any) -> Annotator:
    """Read an annotation and check it as a reference.

    Args:
        path: the annotation.
        name: of its annotator.
        step: called after each batch.
        **arguments: those of `validation.opened_check` beside the path.
    """
    check = _opened(path, **arguments)
    corpora: list[Corpus] = []
    members: list[Member] = []
    for pair in chain.from_iterable(check.batches(None)):
        check.add(check.checked(pair))
        corpora.append(pair.system.corpus)
        members += pair.system.members
        step(len(check.documents), check.opened.total)
    corpus = Corpus.concat(corpora) if corpora else Corpus()
    documents = tuple(sorted(check.opened.selected or corpus.documents["name"]))
    form = check.opened.format
    return Annotator(name, corpus, documents, tuple(members), form, check, check.verdict())


def _opened(path: str, **arguments: Any) -> Check:
    """The check of an annotation as a reference, beside the files that the task provides.

    Where a task has files that come with it, annotators have them from `against`.
    """
    check = opened_check(path=path, role=REFERENCE, profile="plan", **arguments)
    opened, provided = check.opened, check.opened.task.provided_suffixes
    texts = opened.texts
    if not provided or texts is None or opened.system.corpus is not None:
        return check
    own = {member.basename for member in opened.system.members}
    added = [
        member
        for member in texts.members
        if member.basename.endswith(provided) and member.basename not in own
    ]
    members = sorted((*opened.system.members, *added), key=lambda member: member.basename)
    system = replace(opened.system, members=tuple(members))
    return Check.of(replace(opened, system=system, reference=None), "plan", gold=True)


def inside(
    annotation: Annotator, judged: Sequence[tuple[str, Mapping[str, str]]]
) -> list[Annotator]:
    """The annotators that one annotation names, each with the documents that name the annotator.

    Rows without an annotator are of none.

    Args:
        annotation: the annotation.
        judged: the tables of what is judged, with values of columns of the rows that count.
    """
    corpus = annotation.corpus
    names = corpus.documents.select("name", document="row")
    rows = [
        getattr(corpus, table)
        .filter(*(pl.col(column) == value for column, value in only.items()), True)
        .select("document", "annotator")
        for table, only in judged
        if table in _HAVING
    ]
    empty = pl.DataFrame(schema={"document": pl.Int64, "annotator": pl.String})
    found = pl.concat([empty, *rows]).drop_nulls().join(names, on="document").unique()
    documents = found.sort("annotator", "name").group_by("annotator", maintain_order=True)
    return [_only(annotation, name, {*own["name"]}) for (name,), own in documents]


def _only(annotation: Annotator, name: Any, documents: set[str]) -> Annotator:
    """The annotation by one annotator, of the documents that name the annotator."""
    corpus = annotation.corpus
    kept: dict[str, pl.DataFrame] = {}
    for table in _HAVING:
        rows = getattr(corpus, table).filter(pl.col("annotator") == name)
        kept[table] = rows.with_columns(annotator=pl.lit(None, pl.String))
    for table, column, target in _belonging():
        rows = kept.get(table, getattr(corpus, table))
        known = kept[target]["row"].implode()
        kept[table] = rows.filter(pl.col(column).is_null() | pl.col(column).is_in(known))
    return replace(
        annotation,
        name=name,
        corpus=corpus.replace(**kept),
        documents=tuple(document for document in annotation.documents if document in documents),
    )


def _belonging() -> Iterator[tuple[str, str, str]]:
    """The tables whose rows belong to rows that have an annotator, with the column of these."""
    for name, table in TABLES.items():
        for column, target in table.references:
            if target in _HAVING and target != name:
                yield name, column, target


def hold(
    annotators: Sequence[Annotator], paths: Sequence[str], task: str, *, lenient: bool
) -> Findings:
    """The findings about all annotations, if they can be compared.

    Raises:
        Refused: if they cannot, or have blocking findings, unless `lenient`.
    """
    verdicts = {id(item.check): item.verdict for item in annotators}
    found = [item for verdict in verdicts.values() for item in verdict.findings]
    blocking = [item for item in found if item.blocking]
    own = [item for item in about(annotators, paths) if not (blocking and item.code in _FOLLOWING)]
    verdict = Verdict(task, "plan", passed=False, findings=Findings([*found, *own]), side=REFERENCE)
    nothing = [item for item in blocking if item.code in NOTHING_TO_SCORE]
    nothing += [item for item in own if item.blocking]
    if nothing or (blocking and not lenient):
        fix = "fix the blocking findings"
        fix += "" if nothing else ", or use --lenient to compare the rest"
        raise Refused(verdict, "nothing was compared because of blocking findings", fix)
    return verdict.findings


def about(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the annotators of a comparison, taken together."""
    if len(annotators) < 2:
        names = ", ".join(f"{item.name} only" for item in annotators) or "nobody"
        yield _finding("AGR101", paths[0], names=names)
        return
    yield from _repeated(annotators, paths)
    every = [set(item.documents) for item in annotators]
    if not any(own & other for own, other in _pairs(every)):
        first, second = (_example(item) for item in annotators[:2])
        yield _finding("AGR103", None, first=first, second=second)
        return
    union = set().union(*every)
    for item in annotators:
        missing = sorted(union - set(item.documents))
        if missing:
            yield _finding(
                "AGR104", _path(item), name=item.name, number=f"{len(missing):,}",
                example=missing[0],
            )  # fmt: skip


def _repeated(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """Annotations that are given twice, and different files of the same content."""
    places = [os.path.realpath(path) for path in paths]
    for at, path in enumerate(paths):
        if places[at] in places[:at]:
            yield _finding("AGR102", path, other=paths[places.index(places[at])])
    if len(paths) < 2:
        return
    for (one, first), (other, second) in _pairs([(item.digest, item) for item in annotators]):
        if one == other and os.path.realpath(_path(first)) != os.path.realpath(_path(second)):
            yield _finding("AGR105", _path(second), name=second.name, other=first.name)


def _pairs(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return ((one, other) for at, one in enumerate(items) for other in items[at + 1 :])


def _path(annotator: Annotator) -> str:
    return annotator.check.opened.system.path


def _example(annotator: Annotator) -> str:
    names = annotator.documents
    if not names:
        return f"{annotator.name} has none"
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{annotator.name} has {names[0]}{more}"


def _finding(code: str, file: str | None, **values: object) -> Finding:
    found = entry(code).finding(values, file=file)
    return msgspec.structs.replace(found, side=REFERENCE)


def places(annotator: Annotator, wanted: Mapping[int, Sequence[int]]) -> dict[tuple[int, int], str]:
    """File and line of records of an annotation; each file is searched once.

    Args:
        annotator: whose annotation it is.
        wanted: records by the number of their file.
    """
    found: dict[tuple[int, int], str] = {}
    for origin, records in wanted.items():
        member = annotator.members[origin]
        try:
            located = annotator.form.locate(member, [FieldRef(record) for record in records])
        except Unreadable:
            located = [None] * len(records)
        for record, location in zip(records, located, strict=True):
            line = f":{location.span.line}" if location else ""
            found[origin, record] = f"{member.display}{line}"
    return found
