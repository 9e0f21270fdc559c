"""The functions of `import hlteval`: the workflows for a program or a notebook.

Wherever a path goes, they take a path, an open file, a `Corpus`, or data frames. Wrong arguments
raise `TypeError` or `ValueError` with the name of the argument, before anything is read.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from hlteval.api.arguments import (
    AnyTask,
    Count,
    Encoding,
    FormatName,
    Positive,
    Profile,
    ScoredTask,
    Share,
    checked,
)
from hlteval.api.options import OptionValue, python_names, reference_path, task_options
from hlteval.findings import MAX_PER_CODE, Findings
from hlteval.representation import Corpus
from hlteval.results.comparison import Comparison
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.sources import open_source
from hlteval.sources.disk import temporary_folder
from hlteval.sources.frames import is_frame
from hlteval.sources.inputs import Input, WrongArgument, as_path, output_path
from hlteval.sources.open_input import OpenInput
from hlteval.tasks import load
from hlteval.tasks.options import with_seed
from hlteval.workflows import comparison, conversion, plotting, scoring, validation
from hlteval.workflows.scoring import Intervals


@checked
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


@checked
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
    path = as_path("submission", submission, table=load(task).scored_table)
    reference = None
    if against is not None:
        reference = as_path("against", against, table=load(task).scored_table)
    given = task_options(task, "validate", options, task_option, _names(validate))
    with python_names({"submission": path, "against": reference, **given}, task):
        return validation.validate(
            task,
            path,
            against=reference,
            role=role,
            profile=profile,
            encoding=encoding,
            max_per_code=max_per_code,
            jobs=jobs,
            options=given,
        )


@checked
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
    sources = _distinct([as_path("source", each) for each in listed])
    if not sources:
        raise WrongArgument("source: expected at least one input, got none")
    arguments: dict[str, Any] = {"from_format": from_format, "to_format": to_format}
    arguments |= {"strict_loss": strict_loss, "settings": _texts("settings", settings or {})}
    arguments |= {"encoding": encoding, "force": force}
    if not isinstance(output, str | os.PathLike):
        return Findings(_to_stream(sources, output, arguments))
    written = output_path("output", output)
    with python_names({"source": sources[0], "output": written}):
        return Findings(conversion.convert(sources, written, **arguments))


def _to_stream(sources: list[str], output: object, arguments: Mapping[str, Any]) -> Iterable[Any]:
    """Convert to an open file, of whose name the suffix is that of the format."""
    if isinstance(output, type) or not callable(getattr(output, "write", None)):
        kind = type(output).__name__
        raise TypeError(f"output: expected a path or a file open for writing bytes, got {kind}")
    name = getattr(output, "name", "")
    name = Path(name).name if isinstance(name, str) else ""
    if arguments["to_format"] is None and not name:
        raise WrongArgument("output: has no name with a suffix; set to_format")
    with temporary_folder() as folder:
        file = folder / (name or "output")
        with python_names({"source": sources[0], "output": str(file)}):
            findings = conversion.convert(sources, str(file), **arguments)
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


def _texts(argument: str, values: Mapping[Any, object]) -> dict[str, str]:
    """A mapping of text to text."""
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"{argument}: expected text by name, got {name!r}: {value!r}")
    return {name: str(value) for name, value in values.items()}


@checked
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
        alignment: whether the table `alignment` is wanted; it costs memory.
        encoding: encoding of the files.
        jobs: number of processes; the scores do not depend on it.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Returns:
        The scores, with the verdict of validation.

    Raises:
        Refused: a ValueError, if there are blocking findings; its `verdict` has them.
        WrongOption: a ValueError, for an unknown option or one that cannot have its value.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> import polars as pl
        >>> row = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}
        >>> mentions = pl.DataFrame([row | {"entity": "NIL1", "mention_type": "NAM"}])
        >>> scores = score("lorehlt-edl", mentions, mentions, measure="muc", lenient=True)
        >>> scores.metrics["muc.fscore"] is None  # one mention has no links
        True
    """
    table = load(task).scored_table
    paths = (reference_path(task, reference), as_path("system", system, table=table))
    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    intervals = Intervals(bootstrap, confidence, seed) if bootstrap else None
    given = _options(task, "score", options, task_option, seed)
    with python_names({"reference": paths[0], "system": paths[1], **given}, task):
        settings["options"], display = plotting.split_options(task, given)
        more: dict[str, Any] = {"alignment": alignment, "intervals": intervals, "jobs": jobs}
        scores = scoring.score(task, paths[0], paths[1], **settings, **more)
        plotting.plot(task, paths[0], {paths[1]: scores}, display, **settings)
    return scores


@checked
def compare(
    task: ScoredTask,
    reference: Input | None,
    systems: Iterable[Input] | Mapping[str, Input],
    *,
    metric: str | None = None,
    test: Literal["permutation", "bootstrap"] = "permutation",
    bootstrap: Positive | None = None,
    confidence: Share = 0.95,
    seed: Count = 0,
    alpha: Share = 0.05,
    profile: Profile = "plan",
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Comparison:
    r"""Compare submissions: ranks, confidence intervals and significance tests.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        systems: the submissions, or a mapping of names to submissions.
        metric: what they are compared by; by default the metric that ranks.
        test: significance test.
        bootstrap: number of replicates; by default 10,000, or 200 if each is scored separately.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alpha: level of significance.
        profile: `plan` or `official`.
        lenient: compare what can be scored in spite of blocking findings.
        encoding: encoding of the files.
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
    table = load(task).scored_table
    path, submissions = reference_path(task, reference), _systems(systems, table)
    given = _options(task, "compare", options, task_option, seed)
    with python_names({"reference": path, "systems": submissions[0], **given}, task):
        return comparison.compare(
            task, path, submissions, metric=metric, test=test, alpha=alpha, profile=profile,
            intervals=Intervals(bootstrap or 0, confidence, seed), lenient=lenient,
            encoding=encoding, options=given,
        )  # fmt: skip


def _options(
    task: str,
    command: Literal["score", "compare"],
    options: Mapping[str, OptionValue] | None,
    more: Mapping[str, OptionValue],
    seed: int,
) -> dict[str, Any]:
    """The options of a task for a command, with its seed where one follows it."""
    names = _names(score if command == "score" else compare)
    return with_seed(load(task), task_options(task, command, options, more, names), seed)


def _systems(systems: Iterable[Input] | Mapping[str, Input], table: str) -> list[str]:
    """The submissions of a comparison, each with a name of its own."""
    single = isinstance(systems, str | os.PathLike) or hasattr(systems, "read")
    if single or is_frame(systems) or not isinstance(systems, Iterable):
        kind = type(systems).__name__
        raise TypeError(f"systems: expected a list or a mapping of submissions, got {kind}")
    if isinstance(systems, Mapping):
        paths = [_renamed(name, as_path("systems", s, table=table)) for name, s in systems.items()]
    else:
        paths = _distinct([as_path("systems", system, table=table) for system in systems])
    if not paths:
        raise WrongArgument("systems: expected at least one submission, got none")
    return paths


def _renamed(name: object, path: str) -> str:
    """A submission under the name that it has in a mapping."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"systems: expected names as text, got {name!r}")
    return OpenInput(open_source(path), name=name)


def _distinct(paths: list[str]) -> list[str]:
    """The submissions with names that differ where they are no paths: `<corpus>`, `<corpus> 2`."""
    count: Counter[str] = Counter()
    distinct = []
    for path in paths:
        count[path] += 1
        several = isinstance(path, OpenInput) and count[path] > 1
        distinct.append(_renamed(f"{path} {count[path]}", path) if several else path)
    return distinct


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a function."""
    return tuple(inspect.signature(function).parameters)
