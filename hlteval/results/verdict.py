"""Signatures, verdicts, verifications and corrected copies as values, and the form of all JSON.

Format of a signature, which says in one line everything that scores depend on:
    Parts separated by `|`, each a name, a colon and a value: `hlteval:0.1.0|task:hub4|…`. A name
    contains no colon. In a value, `%`, `|` and control characters are percent-encoded (UTF-8), so
    any value survives.

Files are named by digests, the first 16 hexadecimal digits of a SHA-256 hash.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote, unquote

import msgspec

from hlteval.extensions import lazy
from hlteval.findings import SUBMISSION, Finding, Findings, Item, Severity, in_order
from hlteval.findings.sequence import severities, tally
from hlteval.sources import Unreadable, open_source, sha256
from hlteval.tasks.task import WrongOption

#: The name of the first part, the version.
FIRST = "hlteval"
#: Digits of a digest.
DIGITS = 16

_ESCAPED = re.compile(r"[%|\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PART = re.compile(r"([^:|]+):([^|]*)")


class WrongSignature(WrongOption):
    """A text that is not a signature: an error of usage."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature as names and values, in their order.

    Examples:
        >>> signature = Signature((("hlteval", "0.1.0"), ("whiteout", "a|b:c")))
        >>> str(signature)
        'hlteval:0.1.0|whiteout:a%7Cb:c'
        >>> Signature.parse(str(signature)) == signature
        True
    """

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a text is, apart from white space around it.

        Raises:
            WrongSignature: if it does not begin with `hlteval:`, or a part has no name.
        """
        if not text.strip().startswith(f"{FIRST}:"):
            raise WrongSignature(f"a signature begins with {FIRST}:, not {text.strip()[:40]!r}")
        parts = []
        for part in text.strip().split("|"):
            match = _PART.fullmatch(part)
            if match is None:
                raise WrongSignature(f"a part of a signature is NAME:VALUE, not {part[:40]!r}")
            parts.append((match[1], unquote(match[2], errors="surrogateescape")))
        return cls(tuple(parts))

    def __str__(self) -> str:
        return "|".join(
            f"{name}:{_ESCAPED.sub(lambda match: quote(match[0], safe=''), value)}"
            for name, value in self.parts
        )

    def values(self, name: str) -> list[str]:
        """The values of the parts of a name; a comparison has several systems.

        Examples:
            >>> Signature.parse("hlteval:0.1.0|system:a|system:b").values("system")
            ['a', 'b']
        """
        return [value for part, value in self.parts if part == name]


def digest(files: Iterable[tuple[str, str]], *, name_matters: bool = True) -> str:
    """One digest of files, given as (path, SHA-256 digest), independent of folder and order.

    Args:
        files: the files.
        name_matters: whether the name of a single file does, because it names a document; if
            not, the digest is that of the content. Several files are distinguished by their names.

    Examples:
        >>> digest([("run1.json", "0123456789abcdef0123")], name_matters=False)
        '0123456789abcdef'
    """
    each = list(files)
    if len(each) == 1 and not name_matters:
        return each[0][1][:DIGITS]
    lines = sorted(f"{name.rpartition('/')[2]} {sha256}\n" for name, sha256 in each)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:DIGITS]


def content(path: str) -> str:
    """The digest of a file, folder or archive that an option names.

    Raises:
        FileNotFoundError: if it does not exist.
    """
    digests = []
    for member in open_source(path).members:
        try:
            digests.append((member.name, sha256(member.fetch())))
        except Unreadable as error:
            digests.append((member.name, error.finding.code))
    return digest(digests, name_matters=False)


#: The part of a signature that names the settings that a file of defaults gave.
SIGNED = "defaults"
#: The settings, beside the options of a task, on which numbers depend.
_NUMBERS = ("reference", "against", "profile", "encoding")
_OPTIONS = "options."


class Defaults(msgspec.Struct, frozen=True):
    """The settings that a command took from a file of defaults.

    Attributes:
        file: path of the file.
        names: the names of the settings, in the order of the file; options begin with `options.`.
    """

    file: str
    names: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Which file gave what, in one line.

        Examples:
            >>> Defaults("hlteval.toml", ("task", "options.mode")).note
            'defaults from hlteval.toml: task, options.mode'
        """
        return f"defaults from {self.file}: {', '.join(self.names)}"

    def sign(self, signature: str) -> str:
        """Add to a signature the names of the settings that this file gave.

        Examples:
            >>> Defaults("hlteval.toml", ("task", "profile")).sign("hlteval:0.1.0|task:hub4")
            'hlteval:0.1.0|task:hub4|defaults:profile'
        """
        names = [
            name.removeprefix(_OPTIONS)
            for name in self.names
            if name in _NUMBERS or name.startswith(_OPTIONS)
        ]
        if not names or not signature:
            return signature
        parts = Signature.parse(signature).parts
        return str(Signature((*parts, (SIGNED, ",".join(names)))))


@cache
def declared_schemas() -> Mapping[str, Mapping[str, Any]]:
    """The schemas of all JSON and of files that you write, by name, as `schemas.toml` has them."""
    text = resources.files("hlteval.results").joinpath("schemas.toml").read_text("utf-8")
    return tomllib.loads(text)


def head(schema: str) -> dict[str, str | int]:
    """The first members of a result in JSON: the name of its schema, and the version.

    Raises:
        KeyError: if there is no such schema.

    Examples:
        >>> head("scores")
        {'schema': 'scores', 'version': 1}
    """
    return {"schema": schema, "version": declared_schemas()[schema]["version"]}


#: A number of things.
Count = Annotated[int, msgspec.Meta(ge=0)]
Profile = Literal["plan", "official"]


class SeverityCounts(msgspec.Struct):
    """The number of problems of each severity.

    Attributes:
        error: problems that make a submission fail.
        warning: problems that usually do not.
        info: remarks.
    """

    error: Count
    warning: Count
    info: Count


class Counts(msgspec.Struct):
    """The number of problems; a finding with `count` counts as so many.

    Attributes:
        severity: by severity.
        code: by code, of the codes with findings.
        side: by side, of the sides with findings.
    """

    severity: SeverityCounts
    code: Mapping[str, Count]
    side: Mapping[str, Count]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Base of results with a JSON form, an object that begins with its schema and version.

    The members of the object are the fields, unless `json_members` names other ones: some of them,
    and properties. A property `member_NAME` is the member NAME in place of the field of that name.
    Their types and meanings are those of the JSON Schema too.
    """

    json_schema: ClassVar[str]
    json_members: ClassVar[tuple[str, ...]] = ()

    def own_members(self) -> dict[str, Any]:
        """The members in plain types, after the schema and its version."""
        names = self.json_members or self.__struct_fields__
        others = {name: f"member_{name}" for name in names if hasattr(type(self), f"member_{name}")}
        return {name: plain(getattr(self, others.get(name, name))) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """The result in plain types, as its command prints it with `--format json`."""
        return head(self.json_schema) | self.own_members()


class Citable(Output, frozen=True, kw_only=True):
    """Base of results that a paper cites."""

    def sentence(self, form: Literal["markdown", "latex"] = "markdown") -> str:
        """The sentence for a paper, as `--format sentence` prints it.

        Args:
            form: `markdown`, which is also plain text, or `latex`.

        Raises:
            ValueError: for another format.
        """
        return str(lazy("hlteval.reports.sentences:sentence")(self, form))


def plain(value: object) -> Any:
    """A value in the types of JSON: findings and structs are objects, and tuples lists.

    The fields of a struct are before those that it inherits.

    Examples:
        >>> plain({"defaults": Defaults("hlteval.toml", ("task",))})
        {'defaults': {'file': 'hlteval.toml', 'names': ['task']}}
    """
    if isinstance(value, Findings):
        return value.to_dict()
    if isinstance(value, Item):
        return msgspec.to_builtins(value)
    if isinstance(value, OverVerdict):
        return value.to_dict()
    if isinstance(value, msgspec.Struct):
        inherited = getattr(type(value).__base__, "__struct_fields__", ())
        names = (*value.__struct_fields__[len(inherited) :], *inherited)
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


Outcome = Literal["pass", "fail", "undecided"]


class _InOrder(Findings):
    """Findings that are sorted, without duplicates."""

    __slots__ = ()


class Verdict(msgspec.Struct, frozen=True):
    """The verdict of validation.

    `passed` does not follow from the findings: an official checker may accept errors.

    Attributes:
        task: name of the task; empty for findings without a task, such as those of a conversion.
        profile: `plan` or `official`; empty without a task.
        passed: whether the submission is valid in that profile.
        findings: the findings of all sides, sorted by side, file, line, column and code, without
            duplicates.
        side: whose verdict it is: findings of other sides do not make it fail.
        decided: whether there is a verdict; without a usable reference there is none.
        paths: the path of each side that was read.
        documents: the number of documents that were read of what is judged; None if it is no matter
            of reading.
        records: the number of their records, such as mentions, frames, segments or tokens, with
            those that cannot be read.
        compared: what the records were compared with, where that depends on the arguments.
        files_judged: the paths of the files of what is judged, if they are known.
        defaults: what was taken from a file of defaults; None if nothing was.

    Examples:
        >>> verdict = Verdict("seedev-binary", "plan", passed=True)
        >>> verdict.by_severity, verdict.worst
        ({'error': 0, 'warning': 0, 'info': 0}, None)
    """

    task: str
    profile: str
    passed: bool
    findings: Findings = Findings()
    side: str = SUBMISSION
    decided: bool = True
    paths: Mapping[str, str] = {}
    documents: int | None = None
    records: int | None = None
    compared: str = ""
    files_judged: tuple[str, ...] = ()
    defaults: Defaults | None = None

    def __post_init__(self) -> None:
        # A changed copy has the same findings most of the time: they are sorted once.
        if not isinstance(self.findings, _InOrder):
            msgspec.structs.force_setattr(self, "findings", _InOrder(in_order(self.findings)))

    def __repr__(self) -> str:
        head = f"{self.task}, profile {self.profile}: " if self.task else ""
        return f"<Verdict: {head}{self.outcome}; {severities(self.findings) or 'no findings'}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:verdict")(self))

    def to_dict(self) -> dict[str, Any]:
        """The verdict in plain types, as `hlteval validate --format json` prints it."""
        return self.json_head() | {"findings": self.findings.to_dict()}

    def json_head(self, whole: OverVerdict | None = None) -> dict[str, Any]:
        """All members of its JSON but the findings, which are the last one.

        Args:
            whole: the result that it is the verdict of, if any, whose members are after the
                outcome.
        """
        outcome = whole.json_outcome if whole else ""
        optional = {"compared": self.compared, "defaults": plain(self.defaults)}
        return {
            **head(whole.json_schema if whole else "verdict"),
            "task": self.task,
            "profile": self.profile,
            "verdict": outcome or self.outcome,
            **(whole.own_members() if whole else {}),
            **{name: getattr(self, name) for name in ("side", "documents", "records")},
            **{name: value for name, value in optional.items() if value},
            "counts": self.counts,
        }

    @property
    def outcome(self) -> Outcome:
        """`pass` or `fail`; `undecided` if the reference cannot be used.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).outcome
            'pass'
        """
        if not self.decided:
            return "undecided"
        return "pass" if self.passed else "fail"

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides with findings, that of the verdict first."""
        sides = dict.fromkeys(finding.side for finding in self.findings)
        return tuple(sorted(sides, key=lambda side: side != self.side))

    def of(self, side: str) -> Verdict:
        """The verdict with the findings of one side only."""
        findings = Findings(finding for finding in self.findings if finding.side == side)
        return msgspec.structs.replace(self, findings=findings)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of findings by severity, by code and by side."""
        sides = dict(tally(self.findings, attrgetter("side")))
        return {"severity": self.by_severity, "code": self.by_code, "side": sides}

    @property
    def by_severity(self) -> dict[str, int]:
        """The number of findings of each severity, most severe first."""
        counts = tally(self.findings, attrgetter("severity"))
        return {severity.value: counts[severity] for severity in Severity}

    @property
    def by_code(self) -> dict[str, int]:
        """The number of findings of each code with findings, sorted by code."""
        return dict(sorted(tally(self.findings, attrgetter("code")).items()))

    @property
    def files(self) -> int:
        """The number of files with findings."""
        return len({finding.file for finding in self.findings} - {None})

    @property
    def worst(self) -> Severity | None:
        """The highest severity of the findings of its side; None without findings."""
        severities = {finding.severity for finding in self.findings if finding.side == self.side}
        return next((severity for severity in Severity if severity in severities), None)

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding of its side has at least a given severity.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).reaches(Severity.INFO)
            False
        """
        return self.worst is not None and self.worst.rank <= severity.rank


class OverVerdict(Output, frozen=True):
    """Base of results of a submission whose JSON is that of its verdict, with further members.

    Attributes:
        verdict: the verdict, with its findings.
    """

    json_outcome: ClassVar[str] = ""

    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """The result in plain types, as its command prints it with `--format json`."""
        return self.verdict.json_head(self) | {"findings": self.verdict.findings.to_dict()}


class Refusal(OverVerdict, frozen=True):
    """Why nothing was scored.

    Attributes:
        verdict: the verdict of validation, with its findings.
        reason: the reason in one line.
        help: what to do, in one line.
        blocking: the findings that are the reason.
        command: the command that reports the others too; empty if there is none.
    """

    json_schema: ClassVar[str] = "refusal"
    json_members: ClassVar[tuple[str, ...]] = ("reason", "help")
    json_outcome: ClassVar[str] = "refused"

    reason: str
    help: str
    blocking: Sequence[Finding] = ()
    command: Sequence[str] = ()


#: The result of the check of a part.
VerificationOutcome = Literal["same", "differs", "not checked"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a signature, or one number, beside what was found.

    Attributes:
        name: name of the part, or of the metric.
        outcome: whether it is the same.
        expected: its value in the signature or the scores; None if they have none.
        found: the value that was found; None if there is none.
        reason: why it was not checked, or what differs if the values do not show it.
    """

    name: str
    outcome: VerificationOutcome
    expected: str | None = None
    found: str | None = None
    reason: str = ""


class Verification(Output, frozen=True, kw_only=True):
    """A signature, part by part, beside files and settings.

    Attributes:
        signature: the signature that was verified.
        parts: its parts in order, then parts that were found but are not in it.
        numbers: the numbers, if there are scores to compare with.
    """

    json_schema: ClassVar[str] = "verification"
    json_members: ClassVar[tuple[str, ...]] = (
        *("verdict", "differing"),
        *("signature", "parts", "numbers"),
    )

    signature: str
    parts: tuple[Part, ...]
    numbers: tuple[Part, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing differs.

        Examples:
            >>> Verification(signature="", parts=(Part(name="task", outcome="same"),)).agrees
            True
        """
        return not self.differing

    @property
    def differing(self) -> tuple[Part, ...]:
        """The parts and numbers that differ."""
        return tuple(part for part in (*self.parts, *self.numbers) if part.outcome == "differs")

    @property
    def member_verdict(self) -> Literal["same", "differs"]:
        """`differs` if at least one part or number does."""
        return "same" if self.agrees else "differs"

    @property
    def member_differing(self) -> tuple[str, ...]:
        """The names of the parts and numbers that differ."""
        return tuple(part.name for part in self.differing)


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One correction in a copy.

    Attributes:
        code: code of the finding that it corrects.
        file: the file, as in the findings of the original; None for all files.
        line: number of the line in the original; None for the whole file.
        title: what was done.
        count: at how many places of the file; 1 for a line.
    """

    code: str
    file: str | None
    line: int | None
    title: str
    count: int = 1


class Unfixed(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that could be corrected mechanically, but were not.

    Attributes:
        code: their code.
        file: the file, as in the findings of the original.
        count: their number in this file.
        reason: why they are left.
    """

    code: str
    file: str | None
    count: int
    reason: str


class FixedCopy(OverVerdict, frozen=True, kw_only=True):
    """The verdict over a corrected copy of a submission, and what was corrected.

    Attributes:
        path: where it is; None if none is written.
        fixes: what was corrected, in the order of files and lines.
        unfixed: the remaining problems that a fixer exists for.
        changes: the lines of a unified diff, where no copy was wanted.
        readable: whether the submission can be read.
    """

    json_schema: ClassVar[str] = "fixed-copy"
    json_members: ClassVar[tuple[str, ...]] = ("copy", "fixes", "unfixed")

    path: str | None
    fixes: tuple[Fix, ...] = ()
    unfixed: tuple[Unfixed, ...] = ()
    changes: tuple[str, ...] = ()
    readable: bool = True

    @property
    def member_copy(self) -> str | None:
        """Path of the copy; null if none could be written, then the verdict is over the
        original.
        """  # noqa: D205 - a sentence of the schema
        return self.path
