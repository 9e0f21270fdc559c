"""Verification of claims: a signature, possibly with numbers, beside files and settings."""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path

import msgspec

from hlteval.findings.suggest import did_you_mean
from hlteval.results.verdict import FIRST, SIGNED, Part, Signature, Verification, WrongSignature
from hlteval.results.verdict import VerificationOutcome as Outcome
from hlteval.sources import Unreadable, open_source
from hlteval.tasks import is_known, load, task_names
from hlteval.tasks.options import merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.run.batches import Batch, Progress, no_progress, open_sides, with_progress
from hlteval.workflows.run.engine import score
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused, files_of, names_file
from hlteval.workflows.run.verdicts import signature as signed

#: A signature inside a report: alone, after `%` in LaTeX, or in backticks in Markdown.
_LINE = re.compile(rf"{FIRST}:[^\r\n`]*\|[^\r\n`]*")
#: The file of scores in an output folder of `hlteval score`.
MAIN = "scores.json"


@dataclass(frozen=True)
class Claim:
    """A signature, and the numbers that are claimed for it.

    Attributes:
        signature: the signature.
        numbers: metrics by name, and limits of their intervals as `NAME (low)` and `NAME (high)`;
            None if only the signature is known.
        source: where it was read from; empty for a signature as such.
    """

    signature: Signature
    numbers: Mapping[str, float | None] | None = None
    source: str = ""

    def only(self, name: str) -> str | None:
        """The value of a part; None if there is no such part.

        Examples:
            >>> Claim(Signature.parse("hlteval:0.1.0|task:hub4")).only("task")
            'hub4'
        """
        return next(iter(self.signature.values(name)), None)


def read_claim(given: str) -> Claim:
    """The claim that a text is, or that a file contains.

    Args:
        given: a signature; or a file or folder with the output of `hlteval score`, in JSON or any
            other format that contains the signature; or `-` for such a file on standard input.

    Raises:
        WrongSignature: if there is no signature.
        FileNotFoundError: if there is no such file.

    Examples:
        >>> read_claim("hlteval:0.1.0|task:hub4").only("task")
        'hub4'
    """
    if given.strip().startswith(f"{FIRST}:"):
        return Claim(Signature.parse(given))
    try:
        path = f"{given}/{MAIN}" if given != "-" and Path(given).is_dir() else given
        (member,) = open_source(path).members
        text = member.fetch().decode(errors="replace")
    except (OSError, ValueError, Unreadable) as error:  # a long name, a null character, a device
        message = f"{given[:80]} is neither a signature, which begins with {FIRST}:, nor a file"
        raise WrongSignature(message) from error
    if text.lstrip().startswith("{"):
        return _read_scores(given, text)
    if match := _LINE.search(text):
        return Claim(Signature.parse(match[0]), source=given)
    raise WrongSignature(f"{given} contains no signature, a line that begins with {FIRST}:")


def _read_scores(name: str, text: str) -> Claim:
    """Read the JSON of scores; a count may be written as an integer."""
    try:
        scores = msgspec.json.decode(text)
        signature = Signature.parse(scores["signature"])
        if "metrics" not in scores:
            return Claim(signature, None, name)
        numbers = dict(scores["metrics"].items())
        for metric, limits in scores.get("intervals", {}).items():
            numbers[f"{metric} (low)"], numbers[f"{metric} (high)"] = limits or (None, None)
        floats = {key: None if value is None else float(value) for key, value in numbers.items()}
    except WrongSignature:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WrongSignature(f"{name} is not the JSON of scores with their signature") from error
    return Claim(signature, floats, name)


#: The settings of any task, with their defaults.
COMMON = {
    "task": "",
    "profile": "plan",
    "encoding": "utf-8",
    "lenient": "no",
    "bootstrap": "",
    "confidence": "0.95",
    "seed": "0",
}
#: The part that has the groups of documents that intervals are computed from.
JACKKNIFE = "jackknife"
#: Why other parts that need not be found are not checked.
UNCHECKED = {
    JACKKNIFE: "follows from the documents; checked with the intervals of scores",
    SIGNED: "names settings that came from a file; each has its own part",
    **dict.fromkeys(("test", "metric"), "part of a comparison"),
}


def verify(
    signature: str | Claim,
    reference: str,
    system: str | Sequence[str],
    *,
    task: str | None = None,
    profile: str | None = None,
    lenient: bool | None = None,
    bootstrap: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    encoding: str | None = None,
    options: Mapping[str, object] | None = None,
    step: Progress = no_progress,
) -> Verification:
    """Compare a signature, part by part, with files and settings.

    Settings that are left out are those of the signature. Files are read but not scored, unless
    there are numbers to compare with.

    Args:
        signature: a signature, or where `read_claim` finds one. If numbers come with it, they are
            also computed again and compared digit for digit.
        reference: path of the reference.
        system: path of the submission; several for the signature of a comparison.
        task: name of the task.
        profile: `plan` or `official`.
        lenient: whether blocking findings were ignored.
        bootstrap: number of bootstrap resamples.
        confidence: level of the confidence intervals.
        seed: random seed.
        encoding: of the files.
        options: values by the names of the task's options; files are needed to check them.
        step: called after each batch.

    Raises:
        WrongSignature: if there is no signature, or it is of an unknown task.
        WrongOption: for a value that an option cannot have.
        FileNotFoundError: if a path does not exist.

    Examples:
        >>> from pathlib import Path
        >>> import hlteval
        >>> demo = Path(hlteval.__file__).parent / "demo"
        >>> reference, system = str(demo / "reference"), str(demo / "system")
        >>> found = verify("hlteval:0|task:seedev-full|profile:plan", reference, system)
        >>> [part.name for part in found.differing]
        ['hlteval', 'reference', 'system']
    """
    claim = signature if isinstance(signature, Claim) else read_claim(signature)
    common = {"task": task, "profile": profile, "bootstrap": bootstrap, "confidence": confidence}
    common |= {"seed": seed, "lenient": lenient, "encoding": encoding}
    passed = _settings(claim, common)
    systems = [system] if isinstance(system, str) else [*system]
    if "-" in systems[1:] or (claim.source == "-" and "-" in (reference, *systems)):
        raise WrongOption("standard input can be read only once: use - once")
    name = task or claim.only("task")
    return _verification(claim, name, (reference, *systems), passed, options or {}, step)


def _verification(
    claim: Claim,
    name: str | None,
    paths: Sequence[str],
    passed: Mapping[str, str],
    options: Mapping[str, object],
    step: Progress,
) -> Verification:
    """Compare a claim with the signature of the files and of what the user passed.

    Args:
        claim: what is verified.
        name: of the task whose formats are read.
        paths: of the reference and of the submissions.
        passed: the common settings that the user passed, as signatures have them.
        options: the options of the task that the user passed.
        step: called after each batch.
    """
    if name is None:
        raise WrongSignature("the signature names no task; use --task NAME")
    if not is_known(name):
        hint = did_you_mean(name, task_names(), f"use one of {', '.join(task_names())}")
        if claim.only("declaration"):
            hint = "it is declared in a file; use --task FILE"
        raise WrongSignature(f"unknown task {name}; {hint}")
    task, (reference, *systems) = load(name), paths
    own = merge_options(task, options)
    values = {o.name: claim.only(o.name) for o in task.options if not names_file(o)}
    effective = {name: value for name, value in values.items() if value is not None} | {**own}
    chosen = {name: passed.get(name) or claim.only(name) or COMMON[name] for name in COMMON}
    request = Request(
        task.name,
        systems[0],
        reference,
        profile=chosen["profile"],
        encoding=chosen["encoding"],
        lenient=chosen["lenient"] == "yes",
        options=effective,
        alignment=False,
        step=step,
    )
    signatures = []
    for path in systems:  # which are read, but not scored
        opened, read = open_sides(replace(request, system=path), reference, effective), Batch()
        for pair in with_progress(opened, opened.pairs(), attrgetter("documents"), step):
            read.add(Batch(files=files_of(pair)))
        signatures.append(signed(opened, read.files, lenient=request.lenient))
    kept = {FIRST, "reference", *task.signed, *passed, *own}
    kept |= {"task"} if task.called else set()
    found = [part for part in signatures[0].parts if part[0] in kept]
    found += [("system", value) for each in signatures for value in each.values("system")]
    found += [(name, value) for name, value in passed.items() if name not in dict(found)]
    both = claim.signature, Signature(tuple(found))
    names = dict.fromkeys(name for each in both for name, _ in each.parts)
    by_name = (_parts(task, name, *(each.values(name) for each in both)) for name in names)
    parts = tuple(part for each in by_name for part in each)
    numbers: Iterable[Part] = ()
    if claim.numbers is not None:
        numbers = _numbers(claim, request, chosen, parts)
    return Verification(signature=str(claim.signature), parts=parts, numbers=tuple(numbers))


def _settings(claim: Claim, common: Mapping[str, object]) -> dict[str, str]:
    """Return the settings that a user passed, as signatures have them."""
    passed = {name: str(value) for name, value in common.items() if value is not None}
    if claim.only(JACKKNIFE) and not claim.only("bootstrap"):  # nothing was resampled
        passed.pop("bootstrap", None)
    if "lenient" in passed:
        passed["lenient"] = "yes" if common["lenient"] else "no"
    if "encoding" in passed:
        passed["encoding"] = codecs.lookup(passed["encoding"]).name
        if passed["encoding"] == "utf-8" and claim.only("encoding") is None:
            del passed["encoding"]  # which signatures leave out
    return passed


def _parts(task: Task, name: str, expected: Sequence[str], found: Sequence[str]) -> Iterator[Part]:
    """Compare the parts of a name, in order; those beside which there is nothing say why."""
    if found:
        for value, other in zip_longest(expected, found):
            outcome: Outcome = "same" if value == other else "differs"
            yield Part(name=name, outcome=outcome, expected=value, found=other)
        return
    outcome = "not checked"
    option = next((option for option in task.options if option.name == name), None)
    flag = f"--{option.flag if option else name.replace('_', '-')}"
    if names_file(option):
        reason = f"use {flag} FILE to check it"
    elif name in UNCHECKED:
        reason = UNCHECKED[name]
    elif option is not None or name in COMMON:
        reason = f"taken from the signature; use {flag} to compare yours"
    else:
        outcome, reason = "differs", f"hlteval has no such part for {task.name}"
    for value in expected:
        yield Part(name=name, outcome=outcome, expected=value, reason=reason)


def _numbers(
    claim: Claim, request: Request, chosen: Mapping[str, str], parts: Sequence[Part]
) -> Iterator[Part]:
    """Compare the numbers that were claimed with those of the files, or say why this cannot be.

    Args:
        claim: with the numbers.
        request: how the submission is scored.
        chosen: the settings, as text.
        parts: of the signature, compared.
    """
    once = "-" in (request.system, request.reference)
    reasons = ["standard input can be read only once"] if once else []
    files = {option.name for option in request.definition.options if names_file(option)}
    for part in parts:
        if part.outcome == "differs" and part.name != FIRST:
            reasons.append(f"{part.name} differs")
        elif part.outcome == "not checked" and part.name in files:
            reasons.append(f"{part.name} was not checked")
    if reasons:
        yield Part(name="numbers", outcome="not checked", reason=reasons[0])
        return
    # The number of resamples does not matter to the jackknife.
    replicates = chosen["bootstrap"] or ("1" if claim.only(JACKKNIFE) else "")
    try:
        drawn = float(chosen["confidence"]), int(chosen["seed"])
        intervals = Intervals(int(replicates), *drawn) if replicates else None
    except ValueError as error:
        raise WrongSignature("bootstrap, confidence and seed must be numbers") from error
    try:
        scores = score(replace(request, intervals=intervals))
    except Refused as refused:
        yield Part(name="numbers", outcome="differs", reason=str(refused))
        return
    computed, claimed = dict(scores.metrics), claim.numbers or {}
    for name, limits in scores.intervals.items():
        computed |= {f"{name} (low)": limits[0], f"{name} (high)": limits[1]}
    for name in {**claimed, **computed}:
        expected, found = _digits(claimed, name), _digits(computed, name)
        outcome: Outcome = "same" if expected == found else "differs"
        yield Part(name=name, outcome=outcome, expected=expected, found=found)


def _digits(numbers: Mapping[str, float | None], name: str) -> str | None:
    """Return a number in full; `-` if it is undefined, None if there is no such number."""
    value = numbers.get(name)
    return repr(float(value)) if value is not None else "-" if name in numbers else None
