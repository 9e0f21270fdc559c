"""Agreement: how far annotators of the same documents agree, in coefficients, and where not.

Each annotation is read and checked as a reference, from a file of its own or from one that names
annotators. Pairs of annotators have the measures of the task, units that are judged have
coefficients.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from operator import attrgetter

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval import __version__
from hlteval.converters import ReadResult
from hlteval.findings import REFERENCE, FieldRef, Finding, Findings, entry, finding
from hlteval.findings.counts import count_of, first_names
from hlteval.representation import (
    CURATED,
    WITH_ANNOTATORS,
    Corpus,
    align,
    annotators_by_document,
    of_documents,
    without_orphans,
)
from hlteval.results.agreement import (
    Agreement,
    CoefficientValue,
    Disagreement,
    Judgment,
    PairMeasure,
)
from hlteval.results.systems import short_names
from hlteval.results.verdict import FIRST, Signature, Verdict
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND, Coefficient, Ratings, Values
from hlteval.scoring.agreement.units import SEPARATOR, Judged, Present, Unit, first_of_marks, judge
from hlteval.scoring.intervals import Bootstrap, method
from hlteval.scoring.metric import CannotCount, Limits, Metric
from hlteval.scoring.resampling import draws
from hlteval.sources import Member, Unreadable
from hlteval.tasks import agreement as declarations
from hlteval.tasks.options import merge_options, metric_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.run.batches import Pair, no_progress, subprogress
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.engine import open_check, statistics
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import (
    NOTHING_TO_SCORE,
    Refused,
    digest_of,
    expand_folders,
    files_in,
    option_parts,
)

#: The codes of the findings about annotators, or their prefixes.
CODES = ("AGR",)
#: The codes that follow from what cannot be read.
_FOLLOWING = frozenset({"AGR101", "AGR103", "AGR104"})
#: The annotator of rows without one, and of a row.
_NOBODY = "nobody"
_BY = pl.col("annotator").fill_null(_NOBODY)


@dataclass(frozen=True)
class Annotator:
    """One annotator and the annotation.

    Attributes:
        name: of the annotator.
        corpus: the annotation.
        documents: the names of the documents that count as annotated.
        members: the files of `corpus.sources`, in order.
        check: the check of the annotation.
        verdict: its verdict.
    """

    name: str
    corpus: Corpus
    documents: tuple[str, ...]
    members: tuple[Member, ...]
    check: Check
    verdict: Verdict

    @property
    def digest(self) -> str:
        """The digest of the files."""
        return digest_of(files_in(self.corpus))


def read(request: Request, name: str) -> Annotator:
    """Read an annotation and check it as a reference.

    Where a task has files that come with it, annotators have them from `against`.

    Args:
        request: for the annotation.
        name: of its annotator.
    """
    check = open_check(request)
    opened, provided = check.opened, check.opened.task.provided_suffixes
    if provided and opened.reference is not None and opened.system.corpus is None:
        own = {member.basename for member in opened.system.members}
        texts = opened.reference.members
        added = [each for each in texts if each.basename.endswith(provided)]
        files = (*opened.system.members, *(each for each in added if each.basename not in own))
        system = replace(opened.system, members=tuple(sorted(files, key=attrgetter("basename"))))
        check = Check(replace(opened, system=system, reference=None), gold=True)
    corpora: list[Corpus] = []
    members: list[Member] = []
    for pair in chain.from_iterable(check.batches(None)):
        check.add(check.check_batch(pair))
        corpora.append(pair.system.corpus)
        members += pair.system.members
        if request.step:
            request.step(sum(map(len, check.total.documents)), check.opened.total)
    corpus = Corpus.concat(corpora) if corpora else Corpus()
    documents = tuple(sorted(check.opened.selected_documents or corpus.documents["name"]))
    return Annotator(name, corpus, documents, tuple(members), check, check.verdict())


def inside(
    annotation: Annotator, judged: Sequence[tuple[str, Mapping[str, str]]]
) -> list[Annotator]:
    """The annotators that one annotation names, each with the documents that name the annotator.

    Rows without an annotator are those of another one, as for GEN410, if there are named ones.

    Args:
        annotation: the annotation.
        judged: the tables of what is judged, with values of columns of the rows that count.
    """
    corpus = annotation.corpus
    names = corpus.documents.select("name", document="row")
    rows = [
        getattr(corpus, table).filter(
            *(pl.col(column) == value for column, value in only.items()), True
        )
        for table, only in judged
        if table in WITH_ANNOTATORS
    ]
    if any(frame["annotator"].count() for frame in rows):
        rows = [frame.with_columns(_BY) for frame in rows]
    judged_by = annotators_by_document(corpus, rows).join(names, on="document")
    documents = judged_by.sort("annotator", "name").group_by("annotator", maintain_order=True)
    return [_only(annotation, str(name), {*own["name"]}) for (name,), own in documents]


def without_curated(annotators: Sequence[Annotator]) -> tuple[list[Annotator], list[str]]:
    """The annotators without what was curated of them, and notes about that.

    All are left where less than two have a name: what was curated is then that of one of them.
    """
    kept = [item for item in annotators if item.name not in CURATED]
    named = sum(item.name != _NOBODY for item in kept)
    if named < 2 or len(kept) == len(annotators):
        return list(annotators), []
    names = [item.name for item in annotators if item.name in CURATED]
    return kept, [f"{name} is no annotator, but what was curated: it is left out" for name in names]


def _only(annotation: Annotator, name: str, documents: set[str]) -> Annotator:
    """The annotation by one annotator, of the documents that name the annotator."""
    rows = {table: getattr(annotation.corpus, table) for table in WITH_ANNOTATORS}
    kept = {
        table: frame.filter(name == _BY).with_columns(annotator=pl.lit(None, pl.String))
        for table, frame in rows.items()
    }
    return replace(
        annotation,
        name=name,
        corpus=without_orphans(annotation.corpus, kept),
        documents=tuple(document for document in annotation.documents if document in documents),
    )


def hold(annotators: Sequence[Annotator], paths: Sequence[str], request: Request) -> Findings:
    """The findings about all annotations, if they can be compared.

    Raises:
        Refused: if they cannot, or have blocking findings, unless the request is lenient.
    """
    verdicts = {id(item.check): item.verdict for item in annotators}
    every = [item for verdict in verdicts.values() for item in verdict.findings]
    rules = {rule for item in annotators for rule in item.check.rules if rule.of_one_annotator}
    findings = [item for item in every if item.code not in {rule.code for rule in rules}]
    blocking = [item for item in findings if item.blocking]
    together = [item.of(REFERENCE) for item in about(annotators, paths)]
    together = [item for item in together if not (blocking and item.code in _FOLLOWING)]
    held = Findings([*findings, *together])
    verdict = Verdict(request.task, "plan", passed=False, findings=held, side=REFERENCE)
    nothing = [item for item in blocking if item.code in NOTHING_TO_SCORE]
    nothing += [item for item in together if item.blocking]
    if nothing or (blocking and not request.lenient):
        fix = "fix the blocking findings"
        fix += "" if nothing else ", or use --lenient to compare the rest"
        raise Refused(verdict, "nothing was compared because of blocking findings", fix)
    return verdict.findings


def about(annotators: Sequence[Annotator], paths: Sequence[str]) -> Iterator[Finding]:
    """Check the annotators of a comparison, taken together."""
    if len(annotators) < 2:
        names = ", ".join(f"{item.name} only" for item in annotators) or "nobody"
        yield finding("AGR101", file=paths[0], names=names)
        return
    real = [os.path.realpath(path) for path in paths]
    for at, path in enumerate(paths):
        if real[at] in real[:at]:
            yield finding("AGR102", file=path, other=paths[real.index(real[at])])
    files = [(item.digest, item.check.opened.system.path, item.name) for item in annotators]
    for (one, first, name), (other, second, copy) in combinations(files, 2):
        if len(paths) > 1 and one == other and os.path.realpath(first) != os.path.realpath(second):
            yield finding("AGR105", file=second, name=copy, other=name)
    sets = [set(item.documents) for item in annotators]
    if not any(own & other for own, other in combinations(sets, 2)):
        one, two = (
            f"{a.name} has {first_names(a.documents or ['none'], 1)}" for a in annotators[:2]
        )
        yield finding("AGR103", first=one, second=two)
        return
    union = set().union(*sets)
    for item, (_, file, name) in zip(annotators, files, strict=True):
        if missing := sorted(union - set(item.documents)):
            values = {"name": name, "number": f"{len(missing):,}", "example": missing[0]}
            yield entry("AGR104").finding(values, file=file)


def places(
    annotator: Annotator, wanted: Mapping[int, Collection[int]]
) -> dict[tuple[int, int], str]:
    """File and line of records of an annotation; each file is searched once.

    Args:
        annotator: whose annotation it is.
        wanted: records by the number of their file.
    """
    found: dict[tuple[int, int], str] = {}
    for origin, records in wanted.items():
        member, form = annotator.members[origin], annotator.check.opened.format
        try:
            located = form.locate(member, [FieldRef(record) for record in records])
        except Unreadable:
            located = [None] * len(records)
        for record, location in zip(records, located, strict=True):
            line = f":{location.span.line}" if location else ""
            found[origin, record] = f"{member.display}{line}"
    return found


UNDEFINED = "undefined for these annotations"


def pair_measures(
    request: Request, declared: declarations.Agreement, values: Mapping[str, str], *pair: Annotator
) -> Iterator[PairMeasure]:
    """The measures of two annotators, on the documents that both annotated.

    These are the declared ones, or else the one that ranks; a value is the mean of both directions.

    Args:
        request: with the intervals that are wanted.
        declared: what the task declares for annotators.
        values: of the task's options.
        *pair: the annotators.
    """
    task, (first, second) = request.definition, pair
    if task.metric is None:
        return
    ranking = task.ranking("plan", values)
    names: Sequence[str] = (ranking,)
    if declared.measures and not task.only_measure(values):
        names = declared.measures
    shared = sorted({*first.documents} & {*second.documents})
    documents = pl.Series(shared, dtype=pl.String)
    files = first.check.opened.files
    metric = task.scorer("plan", metric_options(task, {**declared.options, **values}, files))
    sides: list[pl.DataFrame] = []
    undefined = UNDEFINED
    try:
        for reference, other in ((first, second), (second, first)):
            gold = of_documents(_with_documents(reference.corpus, shared), documents)
            other_side = declared.as_system(_with_documents(other.corpus, shared))
            aligned = Pair(*map(ReadResult, align(gold, of_documents(other_side, documents))))
            opened = reference.check.opened
            sides.append(statistics(opened, metric, aligned, alignment=False, evidence=False)[0])
    except CannotCount as reason:
        sides, undefined = [], reason.finding.message
    finally:
        metric.finish()
    if sides:
        known = metric.score(metric.total([]))[0]
        names = [name for name in names if name in known] or [ranking]
    for name in names:
        forward = backward = value = None
        interval: Limits | str = undefined
        if sides:
            (part,) = metric.decompose((name,))
            forward, backward = (part.score(part.total([own]))[0].get(name) for own in sides)
        if forward is not None and backward is not None:
            value = (forward + backward) / 2
            interval = _interval(request, part, name, value, sides)
        yield PairMeasure(
            measure=name,
            first=first.name,
            second=second.name,
            forward=forward,
            backward=backward,
            value=value,
            interval=None if isinstance(interval, str) else interval,
            documents=len(shared),
            reason=interval if isinstance(interval, str) else "",
        )


def _interval(
    request: Request, part: Metric, name: str, value: float, sides: Sequence[pl.DataFrame]
) -> Limits | str:
    """The interval of the mean, from replicates over the same documents in both directions."""
    wanted = request.intervals
    if wanted is None:
        return ""
    documents = sorted({name for counts in sides for name in part.documents(counts)})
    how = method(
        part, len(documents), resamples=wanted.replicates, confidence=wanted.confidence,
        seed=wanted.seed,
    )  # fmt: skip
    if how is None:
        return "no method is known to be valid"
    if missing := how.missing(part, name):
        return missing
    within = request.definition.limits(name)
    if len(documents) < how.fewest:
        return how.interval(value, np.array([value]), within)
    nothing = np.array([])
    one, two = (how.replicates(part, own, documents).get(name, nothing) for own in sides)
    return how.interval(value, (one + two) / 2, within)


def _with_documents(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Return a corpus that has all documents of these names, those without annotations too."""
    known = set(corpus.documents["name"])
    absent = [name for name in names if name not in known]
    if not absent:
        return corpus
    more = Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(absent)])
    return Corpus.concat([corpus, more])


def agreement(
    request: Request, paths: Sequence[str], names: Sequence[str] | None = None
) -> Agreement:
    """Measure the agreement of annotators.

    Args:
        request: how their annotations are read, and what is computed; `against` has the documents,
            where the annotations do not bring their own.
        paths: an annotation of each annotator, in a format of references of the task; or a single
            one that names several annotators.
        names: of the annotators; their paths if there are no others.

    Raises:
        Refused: if annotations have blocking findings, or cannot be compared.
        WrongOption: if the task has nothing that annotators judge, or for a wrong option.
        FileNotFoundError: if a path does not exist.
    """
    task = request.definition
    declared, values = declaration(task), merge_options(task, request.options)
    each = replace(request, options=values, role=REFERENCE)
    step = request.step or no_progress
    curated: list[str] = []
    every = [
        read(replace(each, system=path, step=subprogress(step, at, len(paths))), name)
        for at, (path, name) in enumerate(zip(paths, names or paths, strict=True))
    ]
    if len(every) == 1:
        tables = [(unit.table, unit.only) for unit in declared.units] or [(task.scored_table, {})]
        every, curated = without_curated(inside(every[0], tables))
        members, folders = expand_folders(task.name, paths)
        if folders and not every:
            short = short_names(members)
            result = agreement(each, members, [short[path] for path in members])
            return msgspec.structs.replace(result, notes=(*folders, *result.notes))
    result = _compare(request, declared, values, every, hold(every, paths, request))
    return msgspec.structs.replace(result, notes=(*curated, *result.notes)) if curated else result


def declaration(task: Task) -> declarations.Agreement:
    """Return what annotators of a task judge, and the measures of their agreement.

    Raises:
        WrongOption: if nothing is declared, and the task has no measure.
    """
    if task.agreement is not None:
        return task.agreement()
    if not task.has_agreement:
        raise WrongOption(f"{task.name} declares nothing that annotators judge")
    return declarations.Agreement(why=f"{task.name} declares no units")


def _compare(
    request: Request,
    declared: declarations.Agreement,
    values: Mapping[str, str],
    annotators: Sequence[Annotator],
    findings: Findings,
) -> Agreement:
    """Measure the agreement of annotators by the measures and the units that a task declares."""
    intervals, pairs = request.intervals, [*combinations(annotators, 2)]
    shared = [{*first.documents} & {*second.documents} for first, second in pairs]
    documents = sorted(set().union(*shared))
    by_pair = (pair_measures(request, declared, values, *pair) for pair in pairs)
    measures = tuple(measure for each in by_pair for measure in each)
    task = request.definition
    if declared.with_options is not None:
        files = annotators[0].check.opened.files
        options = metric_options(task, {**declared.options, **values}, files)
        declared = declared.with_options(declared, options)
    sides = [(declared.as_judged(item.corpus), item.documents) for item in annotators]
    each = [(unit, judge(unit, sides, documents)) for unit in declared.units]
    scorer = CoefficientScorer(annotators, documents, intervals)
    coefficients = tuple(
        value
        for (unit, judgments), marked in zip(each, first_of_marks(declared.units), strict=True)
        for value in scorer.values(unit, judgments, marked=marked)
    )
    digests = {id(item.check): item.digest for item in annotators}
    parts = [(FIRST, __version__), ("task", task.display_name), *task.signed.items()]
    parts += [("profile", "plan")]
    parts += [("annotation", digest) for digest in digests.values()]
    parts += [*option_parts(annotators[0].check.opened), ("annotators", f"{len(annotators)}")]
    notes = [f"no coefficients: {declared.why}"] if declared.why else []
    if intervals is not None:
        parts += [("bootstrap", str(intervals.replicates))]
        parts += [("confidence", str(intervals.confidence)), ("seed", str(intervals.seed))]
        notes.append(
            f"[low, high]: {100 * intervals.confidence:g} % bootstrap interval, "
            f"{count_of(intervals.replicates, 'resample')} of documents"
        )
    notes += [f"{u.name}: no annotator judged anything" for u, own in each if not own.units.height]
    meanings: dict[str, str] = {}
    for unit in declared.units:
        meanings[unit.name] = unit.meaning
        meanings |= {item.name: item.meaning for item in (FOUND, *COEFFICIENTS[unit.scale])}
    return Agreement(
        task=request.task,
        signature=str(Signature(tuple(parts))),
        annotators=tuple(item.name for item in annotators),
        documents=len(documents),
        measures=measures,
        coefficients=coefficients,
        differences=tuple(differences(each, annotators, documents)),
        findings=findings,
        notes=tuple(notes),
        meanings=meanings,
    )


WITHIN = (-np.inf, 1.0)
NO_UNITS = "no unit was judged by both"
NO_UNITS_OF_ALL = "no unit was judged by enough annotators"
CONSTANT = "all judgments are the same: agreement cannot be distinguished from chance"
#: With more categories, such as entities, there is no value for each.
MOST_CATEGORIES = 100
#: Cells of the sums of replicates that are computed at a time.
_CELLS = 5_000_000


#: The names of annotators whose agreement is measured, their judgments, and the label of each unit.
Group = tuple[tuple[str, ...], Ratings, NDArray[np.object_]]


@dataclass(frozen=True)
class CoefficientScorer:
    """The coefficients of annotators.

    Attributes:
        annotators: whose agreement is measured.
        documents: the documents that count, in the order of `Ratings.documents`.
        intervals: how confidence intervals are computed; without them there are none.
    """

    annotators: Sequence[Annotator]
    documents: Sequence[str]
    intervals: Intervals | None

    def values(self, unit: Unit, judgments: Judged, *, marked: bool) -> Iterator[CoefficientValue]:
        """Compute all coefficients of what is judged, and that of the units that annotators mark.

        Each has a value of all documents, then values of labels or categories, then of documents.
        """
        for item in ((FOUND,) if marked else ()) + COEFFICIENTS[unit.scale]:
            for names, ratings, labels in self._groups(item, judgments):
                result = partial(_result, unit, item, names)
                yield from self._values(result, item, ratings, single=isinstance(unit, Present))
                if isinstance(unit, Present):
                    for label in dict.fromkeys(sorted(labels)):
                        chosen = ratings.where(labels == label)
                        yield from self._values(result, item, chosen, label, single=True)
                values = item.value(item.sums(ratings), ratings.raters)
                of_units = ratings.documents[_has_value(item, ratings)]
                units = np.bincount(of_units, minlength=len(self.documents)).tolist()
                for name, number, value in zip(self.documents, units, values, strict=True):
                    if number:
                        yield result(number, float(value), document=name)

    def _groups(self, item: Coefficient, judgments: Judged) -> Iterator[Group]:
        """The pairs of annotators, or all of them."""
        labels, ratings = judgments.units["label"].to_numpy(), judgments.ratings
        if item.of == "all":
            # Of two annotators, alpha and Cohen's kappa say the same as that of Fleiss.
            if item.name != "fleiss_kappa" or len(self.annotators) != 2:
                yield tuple(item.name for item in self.annotators), ratings, labels
            return
        for pair in combinations(range(len(self.annotators)), 2):
            first, second = (self.annotators[index] for index in pair)
            shared = {*first.documents} & {*second.documents}
            inside = np.array([name in shared for name in self.documents], dtype=bool)
            chosen = inside[ratings.documents] & ratings.is_judged[:, [*pair]].any(axis=1)
            own = ratings.where(chosen).pair(*pair)
            yield (first.name, second.name), own, labels[chosen]

    def _values(
        self,
        result: Callable[..., CoefficientValue],
        item: Coefficient,
        ratings: Ratings,
        label: str | None = None,
        *,
        single: bool,
    ) -> Iterator[CoefficientValue]:
        """Give the value of a coefficient, and unless it is a single one, that of each category."""
        units, sums, raters = _has_value(item, ratings), item.sums(ratings), ratings.raters
        counted: NDArray[np.bool_] = np.any(sums != 0, axis=tuple(range(1, sums.ndim)))
        total, replicates = sums.sum(axis=0), self._replicates(sums[counted])
        how = None
        if (wanted := self.intervals) is not None:
            drawn = (wanted.confidence, wanted.seed, wanted.replicates)
            how = Bootstrap(int(counted.sum()), *drawn)
        values = None if replicates is None else item.value(replicates, raters)
        value = float(item.value(total, raters))
        yield result(int(units.sum()), value, values, how, label=label)
        if single or item.of_categories is None or len(ratings.categories) > MOST_CATEGORIES:
            return
        each = item.of_categories(total, raters)
        values = None if replicates is None else item.of_categories(replicates, raters)
        for at, category in enumerate(ratings.categories):
            number = int((units & (ratings.values == at).any(axis=1)).sum())
            column = None if values is None else values[:, at]
            if number:
                yield result(number, float(each[at]), column, how, label=category)

    def _replicates(self, sums: Values) -> Values | None:
        """The sums of resamples of documents that have any."""
        if self.intervals is None or not len(sums):
            return None
        flat = sums.reshape(len(sums), -1)
        size = max(1, _CELLS // max(1, flat.shape[1]))
        parts = [
            block[begin : begin + size] @ flat
            for block in draws(len(sums), self.intervals.replicates, self.intervals.seed)
            for begin in range(0, len(block), size)
        ]
        return np.concatenate(parts).reshape(-1, *sums.shape[1:]) if parts else None


def _has_value(item: Coefficient, ratings: Ratings) -> NDArray[np.bool_]:
    """The units that a coefficient is of."""
    if item is FOUND:
        return ratings.judges > 0
    return ratings.judges > 1 if item.name == "alpha" else ratings.judges == ratings.raters


def _result(
    unit: Unit,
    item: Coefficient,
    names: tuple[str, ...],
    units: int,
    value: float,
    drawn: Values | None = None,
    how: Bootstrap | None = None,
    **where: str | None,
) -> CoefficientValue:
    """Return a value with its interval, from its replicates; `where` it is not of all."""
    interval: Limits | str = ""
    if np.isnan(value):
        interval = NO_UNITS if item.of == "pair" else NO_UNITS_OF_ALL
        interval = CONSTANT if units else interval
    elif drawn is not None and how is not None:
        interval = how.interval(value, drawn, WITHIN)
    return CoefficientValue(
        judged=unit.name,
        coefficient=item.name,
        annotators=names,
        value=None if np.isnan(value) else value,
        interval=None if isinstance(interval, str) else interval,
        units=units,
        reason=interval if isinstance(interval, str) else "",
        **where,
    )


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


def differences(
    each: Sequence[tuple[Unit, Judged]], annotators: Sequence[Annotator], documents: Sequence[str]
) -> Iterator[Disagreement]:
    """List the units that annotators judge differently, by document; numbers far apart first.

    What one annotator marked and another did not is listed once, however much is judged of it.

    Args:
        each: what is judged, with the judgments.
        annotators: who judged.
        documents: the names of the documents, in the order of `Ratings.documents`.
    """
    sets = [frozenset(annotator.documents) for annotator in annotators]
    inside = [[name in own for own in sets] for name in documents]
    annotated = np.array(inside, dtype=bool).reshape(len(documents), len(annotators))
    marked = first_of_marks([unit for unit, _ in each])
    for (unit, judgments), finds in zip(each, marked, strict=True):
        ratings, judged = judgments.ratings, judgments.ratings.is_judged
        present = annotated[ratings.documents]
        spread = np.zeros(len(ratings.values))
        several = judged.sum(axis=1) > 1
        values = ratings.values[several]
        spread[several] = np.nanmax(values, axis=1) - np.nanmin(values, axis=1)
        chosen = spread > 0
        if finds:
            chosen |= (present & ~judged).any(axis=1) & judged.any(axis=1)
        units = np.flatnonzero(chosen)
        if not ratings.categories:
            units = units[np.argsort(-spread[units], kind="stable")]
        wanted = {*units.tolist()}
        records: dict[tuple[int, int], tuple[int, int]] = {}
        files: list[dict[int, dict[int, None]]] = [{} for _ in annotators]
        for index, annotator, origin, record in judgments.places.iter_rows():
            if index in wanted and origin is not None:
                records[index, annotator] = origin, record
                files[annotator].setdefault(origin, {})[record] = None
        located = [places(*pair) for pair in zip(annotators, files, strict=True)]
        for index in units.tolist():
            document, key, _ = judgments.units.row(index)
            by_name: dict[str, Judgment] = {}
            for at in np.flatnonzero(present[index]).tolist():
                value = float(ratings.values[index, at])
                category: str | float | None = None if np.isnan(value) else value
                if category is not None and ratings.categories:
                    category = ratings.categories[int(value)]
                place = located[at][records[index, at]] if (index, at) in records else None
                by_name[annotators[at].name] = Judgment(category=category, place=place)
            yield Disagreement(
                judged=unit.name, document=document, unit=key_text(key), judgments=by_name
            )


def key_text(key: str) -> str:
    """The key of a unit for people: its parts, and a hyphen between a start and an end.

    Examples:
        >>> key_text("12" + SEPARATOR + "20" + SEPARATOR), key_text("food" + SEPARATOR + "1")
        ('12-20', 'food 1')
    """
    parts = [part for part in key.split(SEPARATOR) if part]
    if len(parts) > 1 and all(_NUMBER.fullmatch(part) for part in parts[:2]):
        parts[:2] = ["-".join(parts[:2])]
    return " ".join(parts)
