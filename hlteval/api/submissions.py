"""The functions of `import hlteval` for submissions: validate, convert, score, compare, report."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from hlteval.api.arguments import (
    AnyTask,
    Count,
    Encoding,
    FormatName,
    OptionValue,
    Positive,
    Profile,
    ScoredTask,
    Share,
    check_arguments,
    describe_value,
    name_defaults,
    python_names,
    request_of,
    with_distinct_names,
)
from hlteval.findings import MAX_PER_CODE, Findings
from hlteval.representation import Corpus
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard, short_names
from hlteval.results.verdict import Verdict
from hlteval.sources.inputs import Input, WrongArgument, as_path, output_path
from hlteval.sources.spooling import temporary_folder
from hlteval.sources.writing import resolve_path
from hlteval.workflows import agreement as agreements
from hlteval.workflows.compare import comparison
from hlteval.workflows.compare.board import leaderboard_in
from hlteval.workflows.convert import conversion
from hlteval.workflows.run import engine

if TYPE_CHECKING:
    from hlteval.workflows.run.verdicts import Refused


@check_arguments
def score(
    task: ScoredTask,
    reference: Input | None,
    system: Input,
    *,
    profile: Profile = "plan",
    lenient: bool = False,
    bootstrap: Count = 0,
    confidence: Share = 0.95,
    seed: Count = 0,
    alignment: bool = True,
    encoding: Encoding = "utf-8",
    jobs: Positive = 1,
    cluster: str = "",
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Scores:
    """Score a submission against a reference.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        system: the submission.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        bootstrap: number of resamples for confidence intervals; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alignment: whether the table `alignment`, and texts for reports, are wanted; costs memory.
        encoding: encoding of the files.
        jobs: number of processes; the scores do not depend on it.
        cluster: address of the scheduler of a dask cluster that computes instead, whose workers
            find the same paths.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if there are blocking findings; its `verdict` has them.
        WrongOption: a ValueError, for an unknown option or one that cannot have its value.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> import polars as pl
        >>> row = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}
        >>> mentions = pl.DataFrame([row | {"entity": "NIL1", "mention_type": "NAM"}])
        >>> scores = score("lorehlt-edl", mentions, mentions, metric="muc", lenient=True)
        >>> scores.metrics["muc.fscore"]  # undefined: one mention has no links
    """
    with request_of(score, locals()) as (request, _):
        return engine.score(replace(request, evidence=alignment))


@check_arguments
def validate(
    task: AnyTask,
    submission: Input,
    *,
    against: Input | None = None,
    role: Literal["submission", "reference"] = "submission",
    profile: Profile = "plan",
    encoding: Encoding = "utf-8",
    max_per_code: Count = MAX_PER_CODE,
    jobs: Positive = 1,
    cluster: str = "",
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Verdict:
    r"""Check a submission.

    Args:
        task: name of the task.
        submission: the submission.
        against: the documents that it is for; not needed if it brings its own.
        role: `reference` to check a reference by itself.
        profile: `plan` fails errors; `official` fails what the official software rejects.
        encoding: encoding of the files.
        max_per_code: maximum number of findings of a code in a file that are explained; the others
            are one finding with their `count`. 0 for all.
        jobs: number of processes; the findings do not depend on it.
        cluster: address of the scheduler of a dask cluster that computes instead, whose workers
            find the same paths.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Returns:
        The verdict, with all findings.

    Raises:
        WrongOption: a ValueError, for an unknown option or one that cannot have its value.
        NothingGiven: a ValueError, if there is nothing to check against.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tCITY\tNAM\t1.0\n"
        >>> verdict = validate("lorehlt-edl", StringIO(table))
        >>> verdict.outcome, [finding.message for finding in verdict.findings]
        ('fail', ['unknown entity type CITY'])
    """
    with request_of(validate, locals()) as (request, _):
        return engine.validate(request)


@check_arguments
def compare(
    task: ScoredTask,
    reference: Input | None,
    systems: Iterable[Input] | Mapping[str, Input],
    *,
    metric: str | None = None,
    test: Literal["permutation", "bootstrap", "jackknife"] | None = None,
    bootstrap: Positive | None = None,
    confidence: Share = 0.95,
    seed: Count = 0,
    alpha: Share = 0.05,
    profile: Profile = "plan",
    lenient: bool = False,
    alignment: bool = True,
    encoding: Encoding = "utf-8",
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Comparison:
    r"""Compare submissions: ranks, confidence intervals and significance tests.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        systems: the submissions, or a mapping of names to submissions.
        metric: metric or measure that they are compared by; by default the metric that ranks.
        test: significance test; by default `permutation`, or `jackknife` if counts do not add.
        bootstrap: number of replicates; by default 10,000, or 200 if each is scored separately.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alpha: level of significance.
        profile: `plan` or `official`.
        lenient: compare what can be scored in spite of blocking findings.
        alignment: whether `errors`, what each system has right and wrong, is wanted; costs memory.
        encoding: encoding of the files.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if a submission cannot be scored.
        WrongOption: a ValueError, for an unknown metric or option.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
        >>> names = {"a": StringIO(table), "b": StringIO(table.replace("GPE", "PER"))}
        >>> compare("lorehlt-edl", StringIO(table), names, bootstrap=9).systems[0].name
        'a'
    """
    with request_of(compare, locals()) as (request, paths):
        return comparison.compare(request, paths, metric=metric, test=test, alpha=alpha)


@check_arguments
def leaderboard(
    task: ScoredTask,
    reference: Input | None,
    systems: Iterable[Input] | Mapping[str, Input],
    *,
    names: Input | None = None,
    metric: str | Collection[str] = (),
    metrics: Collection[str] = (),
    output: str | os.PathLike[str] | None = None,
    bootstrap: Positive | None = None,
    confidence: Share = 0.95,
    seed: Count = 0,
    alpha: Share = 0.05,
    profile: Profile = "plan",
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    jobs: Positive = 1,
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Leaderboard:
    r"""Rank submissions by several metrics; those that are refused are rows, too.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        systems: the submissions, or a mapping of names to submissions.
        names: file of names, as in `docs/leaderboard.md`.
        metric: names of metrics or measures, the first of which ranks; by default the usual ones.
        metrics: the old name of `metric`, which works until the next release.
        output: folder to write with a page and reports; None for none.
        bootstrap: number of replicates; by default 10,000, or 200 if each is scored separately.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alpha: level of significance.
        profile: `plan` or `official`.
        lenient: rank what can be scored in spite of blocking findings.
        encoding: encoding of the files.
        jobs: number of processes.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name.
        **task_option: the same.

    Raises:
        Refused: a ValueError, if the reference or the file of names cannot be used.
        WrongOption, WrongArgument, TypeError, FileNotFoundError: for a wrong argument.

    Examples:
        >>> from io import StringIO
        >>> gold, wrong = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n", StringIO("nothing")
        >>> board = leaderboard("lorehlt-edl", StringIO(gold), {"a": StringIO(gold), "b": wrong})
        >>> [(row.name, row.codes) for row in board.rows]
        [('a', ()), ('b', ('EDL201',))]
    """
    names = None if names is None else as_path("names", names, files_only=True)
    output = None if output is None else output_path("output", output)
    with request_of(leaderboard, locals()) as (request, paths):
        rank = partial(leaderboard_in, output, request, paths, names=names, alpha=alpha)
        return rank(metrics=_check_names(metric, metrics), named=name_defaults(defaults))


def _check_names(metric: Any, metrics: Any) -> list[str]:
    """Return the names of metrics, also by the old name of the argument, which takes a list.

    Raises:
        TypeError: for anything but names.
    """
    if isinstance(metric, str) and metric:
        return [metric]
    absent = isinstance(metric, tuple) and not metric
    argument, given = ("metrics", metrics) if absent else ("metric", metric)
    several = isinstance(given, Collection) and not isinstance(given, str | bytes)
    if not several or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{argument}: expected names of metrics, got {describe_value(given)}")
    return list(given)


@check_arguments
def agreement(
    task: AnyTask,
    annotations: Iterable[Input] | Mapping[str, Input],
    *,
    against: Input | None = None,
    bootstrap: Count = 1000,
    confidence: Share = 0.95,
    seed: Count = 0,
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Agreement:
    r"""Measure the agreement between annotators of the same documents.

    Args:
        task: name of the task.
        annotations: an annotation of each annotator, or a mapping of names to annotations; or a
            single one that names several annotators.
        against: the documents of the annotations, if these do not include them.
        bootstrap: number of resamples for confidence intervals; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        lenient: compare what can be read in spite of blocking findings.
        encoding: encoding of the files.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if the annotations cannot be compared.
        WrongOption: a ValueError, for an unknown option, or a task without judgments.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
        >>> names = {"Ada": StringIO(table), "Bo": StringIO(table.replace("GPE", "LOC"))}
        >>> found = agreement("lorehlt-edl", names, bootstrap=0)
        >>> {pair.measure: pair.value for pair in found.measures}["strong_mention_match.fscore"]
        1.0
    """
    with request_of(agreement, locals()) as (request, paths):
        names = short_names(paths)
        return agreements.agreement(request, paths, [names[path] for path in paths])


def report(
    result: Scores | Verdict | Comparison | Leaderboard | Agreement | Refused,
    path: str | os.PathLike[str],
) -> None:
    r"""Write a result as a report: one HTML file that opens offline.

    Args:
        result: what `score`, `validate`, `compare`, `leaderboard` or `agreement` returned, or the
            `Refused` that it raised.
        path: of the file; an existing one is replaced in one step.

    Raises:
        TypeError: for any other result.
        WrongArgument: if the path is a folder.
        FileNotFoundError: if its folder does not exist.

    Examples:
        >>> import tempfile
        >>> from io import StringIO
        >>> from hlteval import validate
        >>> verdict = validate("lorehlt-edl", StringIO("R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report(verdict, f"{folder}/report.html")
        ...     Path(folder, "report.html").read_text("utf-8")[:15]
        '<!doctype html>'
    """
    from hlteval.reports.html import Result, write
    from hlteval.workflows.run.verdicts import Refused

    given: object = result.result() if isinstance(result, Refused) else result
    if not isinstance(given, Result):
        kind = type(given).__name__
        expected = "scores, a verdict, a comparison, a leaderboard or an agreement"
        raise TypeError(f"result: expected {expected}, got {kind}")
    if resolve_path(target := Path(path)).is_dir():
        raise WrongArgument(f"path: {target} is a folder")
    write(given, target)


@check_arguments
def read(source: Input, from_format: FormatName | None = None) -> tuple[Corpus, Findings]:
    r"""Read files in any format as a corpus.

    Args:
        source: the files.
        from_format: name of their format; detected if it is not given.

    Returns:
        The corpus, and the findings about the files as such. What a task allows is not checked:
        see `validate`.

    Raises:
        UnknownFormat: a ValueError, if the format cannot be detected.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = StringIO("R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n")
        >>> corpus, findings = read(table, "edl-tab")
        >>> corpus.mentions["text"].to_list(), findings
        (['Osh'], <Findings: none>)
    """
    path = as_path("source", source)
    with python_names({"source": path}):
        corpus, findings = conversion.read(path, from_format)
    return corpus, Findings(findings)


@check_arguments
def convert(
    source: Input | Sequence[Input],
    output: str | os.PathLike[str] | BinaryIO,
    *,
    from_format: FormatName | None = None,
    to_format: FormatName | None = None,
    strict_loss: bool = False,
    settings: Mapping[str, str] | None = None,
    encoding: Encoding = "utf-8",
    force: bool = False,
) -> Findings:
    """Convert files to another format.

    Args:
        source: the files, or a corpus; a list of several is joined by document name.
        output: path to write to, or a file that is open for writing bytes.
        from_format: name of the format of the source; detected if it is not given.
        to_format: name of the format to write; by default that of the suffix of the output.
        strict_loss: write nothing if anything would be lost, or could not be read.
        settings: of either format, by name, as `hlteval formats` lists them.
        encoding: encoding of the files that are read.
        force: replace an existing output.

    Returns:
        The findings of the source, and what the output format cannot represent.

    Raises:
        Lossy: a ValueError, with `strict_loss`, if something would be lost.
        NotConverted: a ValueError, if nothing can be read, or the format can represent nothing.
        UnknownFormat, WrongSetting: ValueErrors, for a format or setting that does not fit.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.
        FileExistsError: if the output exists and `force` is not set.

    Examples:
        >>> from io import BytesIO
        >>> corpus, output = Corpus(documents=[{"row": 0, "name": "d1"}]), BytesIO()
        >>> convert(corpus, output, to_format="jsonl")
        <Findings: none>
        >>> output.getvalue().splitlines()[1]
        b'{"table":"documents","row":0,"name":"d1"}'
    """
    listed: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
    sources = with_distinct_names([as_path("source", each) for each in listed])
    if not sources:
        raise WrongArgument("source: expected at least one input, got none")
    texts: Mapping[Any, object] = settings or {}
    for name, value in texts.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"settings: expected text by name, got {name!r}: {value!r}")

    def write(target: str) -> Findings:
        with python_names({"source": sources[0], "output": target}):
            return Findings(conversion.convert(
                sources, target, from_format=from_format, to_format=to_format, force=force,
                strict_loss=strict_loss, settings=dict(settings or {}), encoding=encoding,
            ))  # fmt: skip

    if isinstance(output, str | os.PathLike):
        return write(output_path("output", output))
    return _write_to_stream(write, output, named=to_format is not None)


def _write_to_stream(write: Callable[[str], Findings], output: object, *, named: bool) -> Findings:
    """Convert to an open file, of whose name the suffix is that of the format.

    Args:
        write: converts to a path.
        output: the open file.
        named: whether the format is given by its name.
    """
    if isinstance(output, type) or not callable(getattr(output, "write", None)):
        kind = type(output).__name__
        raise TypeError(f"output: expected a path or a file open for writing bytes, got {kind}")
    name = getattr(output, "name", "")
    name = Path(name).name if isinstance(name, str) else ""
    if not named and not name:
        raise WrongArgument("output: has no name with a suffix; set to_format")
    with temporary_folder() as folder:
        file = folder / (name or "output")
        findings = write(str(file))
        if file.is_dir():
            raise WrongArgument("output: the format writes a folder; use a path")
        try:
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, cast(BinaryIO, output))
        except TypeError:
            raise TypeError("output: is open for text; open it for bytes (mode 'wb')") from None
        except (OSError, ValueError) as error:
            raise WrongArgument(f"output: cannot be written: {error}") from error
    return findings
