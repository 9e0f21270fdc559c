"""Claims: a signature, with the numbers that came with it if there are any."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from hlteval.findings.suggest import did_you_mean
from hlteval.results.verdict import FIRST, SIGNED, Part, Signature, Verification, WrongSignature
from hlteval.results.verdict import VerificationOutcome as Outcome
from hlteval.sources import Unreadable, open_source
from hlteval.tasks import known, load
from hlteval.tasks.options import merged
from hlteval.tasks.runtime.options import read_files
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.processes.batches import Step, silent, watched
from hlteval.workflows.run.batches import submission
from hlteval.workflows.run.engine import score, settings
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Files, Refused, files_of, names_file
from hlteval.workflows.run.verdicts import signature as signed

_LINE = re.compile(rf"{FIRST}:[^\r\n`]*\|[^\r\n`]*")
"""A signature inside a report: alone, after `%` in LaTeX, or in backticks in Markdown."""
MAIN = "scores.json"
"""The file of scores in an output folder of `hlteval score`."""


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
    text = _text(given)
    if text.lstrip().startswith("{"):
        return _of_json(given, text)
    if match := _LINE.search(text):
        return Claim(Signature.parse(match[0]), source=given)
    raise WrongSignature(f"{given} contains no signature, a line that begins with {FIRST}:")


def _text(given: str) -> str:
    try:
        path = f"{given}/{MAIN}" if given != "-" and Path(given).is_dir() else given
        (member,) = open_source(path).members
        return member.fetch().decode(errors="replace")
    except (OSError, ValueError, Unreadable) as error:  # a long name, a null character, a device
        message = f"{given[:80]} is neither a signature, which begins with {FIRST}:, nor a file"
        raise WrongSignature(message) from error


def _of_json(name: str, text: str) -> Claim:
    try:
        scores = msgspec.json.decode(text)
        signature = Signature.parse(scores["signature"])
        numbers = dict(_numbers(scores)) if "metrics" in scores else None
    except WrongSignature:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WrongSignature(f"{name} is not the JSON of scores with their signature") from error
    return Claim(signature, numbers, name)


def _numbers(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    yield from _floats(scores["metrics"].items())
    for name, limits in scores.get("intervals", {}).items():
        low, high = limits or (None, None)
        yield from _floats([(f"{name} (low)", low), (f"{name} (high)", high)])


def _floats(values: Any) -> Iterator[tuple[str, float | None]]:
    """The values as numbers: a count may be written as an integer."""
    yield from ((name, None if value is None else float(value)) for name, value in values)


COMMON = ("task", "profile", "encoding", "lenient", "bootstrap", "confidence", "seed")
"""Parts that settings of any task say."""
JACKKNIFE = "jackknife"
"""The part that has the groups of documents that intervals are computed from."""
COMPARED = ("test", "metric")
"""Parts of the signature of a comparison only."""


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
    step: Step = silent,
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
    common |= {"seed": seed, "lenient": _yes(lenient), "encoding": _encoding(claim, encoding)}
    systems = [system] if isinstance(system, str) else [*system]
    if "-" in systems[1:] or (claim.source == "-" and "-" in (reference, *systems)):
        raise WrongOption("standard input can be read only once: use - once")
    declared = _task(claim, task)
    chosen = merged(declared, options or {})
    return _Check(claim, reference, systems, declared, _own(claim, common), chosen).result(step)


def _own(claim: Claim, common: Mapping[str, object]) -> dict[str, str]:
    """The settings that a user passed, as signatures have them."""
    own = {name: str(value) for name, value in common.items() if value is not None}
    if claim.only(JACKKNIFE) and not claim.only("bootstrap"):  # nothing was resampled
        own.pop("bootstrap", None)
    return own


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _encoding(claim: Claim, name: str | None) -> str | None:
    """An encoding as signatures have it: none for UTF-8, unless the claim has another."""
    known_as = None if name is None else codecs.lookup(name).name
    return None if known_as == "utf-8" and claim.only("encoding") is None else known_as


def _task(claim: Claim, name: str | None) -> Task:
    chosen = name or claim.only("task")
    if chosen is None:
        raise WrongSignature("the signature names no task; use --task NAME")
    if chosen not in known():
        hint = did_you_mean(chosen, known(), f"use one of {', '.join(known())}")
        raise WrongSignature(f"unknown task {chosen}; {hint}")
    return load(chosen)


@dataclass
class _Check:
    """A claim beside files and settings.

    Attributes:
        claim: what is verified.
        reference: path of the reference.
        systems: paths of the submissions.
        task: the task whose formats are read.
        own: the common settings that the user passed, as text.
        options: the options of the task that the user passed, as text.
        effective: these, and those of the signature that are not files.
    """

    claim: Claim
    reference: str
    systems: Sequence[str]
    task: Task
    own: Mapping[str, str]
    options: Mapping[str, str]
    effective: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        values = {
            option.name: value
            for option in self.task.options
            if not names_file(option) and (value := self.claim.only(option.name)) is not None
        }
        self.effective = {**values, **self.options}

    def result(self, step: Step) -> Verification:
        expected, found = self.claim.signature, self.found(step)
        names = dict.fromkeys(name for name, _ in (*expected.parts, *found.parts))
        parts = tuple(part for name in names for part in self.parts(name, expected, found))
        numbers = tuple(self.numbers(parts, step)) if self.claim.numbers is not None else ()
        return Verification(signature=str(expected), parts=parts, numbers=numbers)

    def found(self, step: Step) -> Signature:
        """The signature of the files and of the settings that the user passed."""
        signatures = [self.read(path, step) for path in self.systems]
        kept = {FIRST, "reference", *self.own, *self.options}
        parts = [part for part in signatures[0].parts if part[0] in kept]
        parts += [("system", own) for each in signatures for own in each.values("system")]
        parts += [(name, value) for name, value in self.own.items() if name not in dict(parts)]
        return Signature(tuple(parts))

    def read(self, system: str, step: Step) -> Signature:
        """The signature of a submission, read but not scored."""
        opened = submission(
            self.task,
            system,
            self.reference,
            encoding=self.setting("encoding", "utf-8"),
            settings=settings(self.task, self.effective, self.setting("profile", "plan")),
            options=self.effective,
            files=read_files(self.task, self.effective, self.setting("encoding", "utf-8")),
        )
        files = Files()
        for pair in watched(opened, opened.pairs(), attrgetter("documents"), step):
            files.add(files_of(pair))
        profile, lenient = self.setting("profile", "plan"), self.setting("lenient", "no")
        return signed(opened, files, profile=profile, lenient=lenient == "yes")

    def setting(self, name: str, default: str) -> str:
        """A common setting: the user's, or else that of the signature."""
        return self.own.get(name) or self.claim.only(name) or default

    def parts(self, name: str, expected: Signature, found: Signature) -> Iterator[Part]:
        """The parts of a name, in order."""
        values, own = expected.values(name), found.values(name)
        if not own:
            outcome, reason = self.unchecked(name)
            for value in values:
                yield Part(name=name, outcome=outcome, expected=value, reason=reason)
            return
        for value, other in zip_longest(values, own):
            outcome = "same" if value == other else "differs"
            yield Part(name=name, outcome=outcome, expected=value, found=other)

    def unchecked(self, name: str) -> tuple[Outcome, str]:
        """What becomes of a part of the signature beside which there is nothing, and why."""
        flag = f"--{name.replace('_', '-')}"
        option = next((option for option in self.task.options if option.name == name), None)
        if names_file(option):
            return "not checked", f"use {flag} FILE to check it"
        if name == JACKKNIFE:
            return "not checked", "follows from the documents; checked with the intervals of scores"
        if name == SIGNED:
            return "not checked", "names settings that came from a file; each has its own part"
        if name in COMPARED:
            return "not checked", "part of a comparison"
        if option is not None or name in COMMON:
            return "not checked", f"taken from the signature; use {flag} to compare yours"
        return "differs", f"hlteval has no such part for {self.task.name}"

    def numbers(self, parts: Sequence[Part], step: Step) -> Iterator[Part]:
        """The numbers that were claimed beside those of the files."""
        claimed = self.claim.numbers or {}
        if reason := self.hindrance(parts):
            yield Part(name="numbers", outcome="not checked", reason=reason)
            return
        try:
            computed = self.computed(step)
        except Refused as refused:
            yield Part(name="numbers", outcome="differs", reason=str(refused))
            return
        for name in {**claimed, **computed}:
            pair = _shown(claimed, name), _shown(computed, name)
            outcome: Outcome = "same" if pair[0] == pair[1] else "differs"
            yield Part(name=name, outcome=outcome, expected=pair[0], found=pair[1])

    def hindrance(self, parts: Sequence[Part]) -> str:
        """Why numbers cannot be compared; empty if they can."""
        if "-" in (self.reference, *self.systems):
            return "standard input can be read only once"
        for part in parts:
            if part.outcome == "differs" and part.name != FIRST:
                return f"{part.name} differs"
            if part.outcome == "not checked" and self.is_file(part.name):
                return f"{part.name} was not checked"
        return ""

    def is_file(self, name: str) -> bool:
        return any(option.name == name and names_file(option) for option in self.task.options)

    def computed(self, step: Step) -> Mapping[str, float | None]:
        """The numbers of the submission, with the names of `Claim.numbers`."""
        arguments: dict[str, Any] = {"profile": self.setting("profile", "plan")}
        arguments |= {"lenient": self.setting("lenient", "no") == "yes"}
        arguments |= {"encoding": self.setting("encoding", "utf-8"), "options": self.effective}
        arguments |= {"intervals": self.intervals(), "alignment": False, "step": step}
        scores = score(Request(self.task.name, self.systems[0], self.reference, **arguments))
        limits = {
            f"{name} ({end})": value
            for name, pair in scores.intervals.items()
            for end, value in zip(("low", "high"), pair, strict=True)
        }
        return {**scores.metrics, **limits}

    def intervals(self) -> Intervals | None:
        """The intervals of the signature; None without any."""
        # The number of resamples does not matter to the jackknife.
        replicates = self.setting("bootstrap", "1" if self.claim.only(JACKKNIFE) else "")
        try:
            level, seed = float(self.setting("confidence", "0.95")), int(self.setting("seed", "0"))
            return Intervals(int(replicates), level, seed) if replicates else None
        except ValueError as error:
            raise WrongSignature("bootstrap, confidence and seed must be numbers") from error


def _shown(numbers: Mapping[str, float | None], name: str) -> str | None:
    """A number in full; `-` if it is undefined, None if there is no such number."""
    if name not in numbers:
        return None
    value = numbers[name]
    return "-" if value is None else repr(float(value))
