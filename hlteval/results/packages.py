"""Packages and conversions as values: archives, bundles for platforms, and files converted."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec

from hlteval.findings import Findings, Severity
from hlteval.findings.counts import count_of
from hlteval.results.evaluation import Name, SomeNames
from hlteval.results.verdict import Count, Output, OverVerdict, Profile, Verdict
from hlteval.sources import Listed


class PackedArchive(OverVerdict, frozen=True, kw_only=True):
    """The verdict over a submission that was packed, and its archive.

    Attributes:
        path: path of the archive; None if nothing was written.
        size: size of the archive in bytes; 0 if nothing was written.
        sha256: SHA-256 digest of the archive, 64 hexadecimal digits; empty if nothing was written.
        members: the members of the archive.
    """

    json_schema: ClassVar[str] = "package"
    json_members: ClassVar[tuple[str, ...]] = ("archive", "size", "sha256", "members")

    path: str | None
    size: Count = 0
    sha256: str = ""
    members: tuple[Listed, ...] = ()

    @property
    def archive(self) -> str | None:
        """Path of the archive; null if nothing was written."""
        return self.path


class Guess(msgspec.Struct, frozen=True):
    """A task that a submission may be for.

    Attributes:
        task: its name.
        reasons: what indicates it.
    """

    task: str
    reasons: tuple[str, ...]


class Inspection(Output, frozen=True, kw_only=True):
    """Content of an archive, without a reference.

    Attributes:
        path: its path.
        kind: what it is.
        size: size of the archive in bytes; None of a folder and of standard input.
        sha256: SHA-256 digest, 64 hexadecimal digits; None of a folder and of standard input.
        members: everything that its list names, also if nothing of it may be read.
        tasks: the tasks that it may be for, the likeliest first.
        name: the parts of its name by what they are, if it has the form of the likeliest task.
        findings: its problems as a package.
        readable: whether its files may be read at all.
    """

    json_schema: ClassVar[str] = "inspection"
    json_members: ClassVar[tuple[str, ...]] = (
        *("path", "kind", "readable", "size", "unpacked", "sha256", "tasks", "name", "members"),
        "findings",
    )

    path: str
    kind: Literal["zip", "tgz", "folder", "file", "stdin"]
    size: Count | None
    sha256: str | None
    members: tuple[Listed, ...] = ()
    tasks: tuple[Guess, ...] = ()
    name: Mapping[str, str] = {}
    findings: Findings = Findings()
    readable: bool = True

    @property
    def unpacked(self) -> Count:
        """Size of all files in bytes, as the archive states it.

        Examples:
            >>> listed = (Listed("d1.a2", "file", 20), Listed("d2.a2", "file", 22))
            >>> Inspection(path="a.zip", kind="zip", size=9, sha256="", members=listed).unpacked
            42
        """
        return sum(member.size for member in self.members)

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The tasks for which there are the most reasons.

        Examples:
            >>> guesses = (Guess("seedev-binary", ("a",)), Guess("seedev-full", ("a",)))
            >>> Inspection(path="", kind="zip", size=0, sha256="", tasks=guesses).likeliest
            ('seedev-binary', 'seedev-full')
        """
        most = max((len(guess.reasons) for guess in self.tasks), default=0)
        return tuple(guess.task for guess in self.tasks if len(guess.reasons) == most)

    @property
    def passed(self) -> bool:
        """Whether nothing is an error."""
        return not any(finding.severity == Severity.ERROR for finding in self.findings)

    def __repr__(self) -> str:
        tasks = ", ".join(guess.task for guess in self.tasks) or "no task"
        members = count_of(len(self.members), "member")
        return f"<Inspection: {self.path}, {self.kind}, {members}; {tasks}>"


class ConvertedInput(msgspec.Struct, frozen=True):
    """An input of a conversion.

    Attributes:
        path: its path; `-` for standard input.
        format: its format.
    """

    path: str
    format: str


class Loss(msgspec.Struct, frozen=True):
    """Information that the output format cannot represent.

    Attributes:
        code: `CNV101` if the format has no place for anything of this kind, else `CNV103`.
        what: what is lost, in the words of the input format, with its number.
        count: how many of these there are.
    """

    code: str
    what: str
    count: int


class Candidate(msgspec.Struct, frozen=True):
    """A format that accepts a source, by its names and first bytes.

    Attributes:
        format: its name.
        title: what it is, in one line.
        reason: why another format comes before it; empty if none does.
    """

    format: str
    title: str
    reason: str


class LikelySetting(msgspec.Struct, frozen=True):
    """A setting of reading that the data show.

    Attributes:
        name: its name, for `--set NAME=VALUE`.
        value: its value.
        reason: what shows it.
    """

    name: str
    value: str
    reason: str


class Detection(Output, frozen=True, kw_only=True):
    """The format of a source, as far as its names and first bytes show it.

    Attributes:
        path: path of the source.
        format: its format; empty if none accepts it, or several do.
        reason: why it is this one, or why it is not clear.
        candidates: the formats that accept it.
        settings: settings that the data show.
    """

    json_schema: ClassVar[str] = "detection"

    path: str
    format: str
    reason: str
    candidates: tuple[Candidate, ...]
    settings: tuple[LikelySetting, ...] = ()


class Conversion(Output, frozen=True, kw_only=True):
    """A conversion, or the reason why nothing was written.

    Attributes:
        inputs: what was read.
        output: path that was written to; `-` for standard output.
        format: format of the output.
        written: whether the output was written.
        documents: the number of documents that were read.
        contents: what was found in them: numbers by the words of the input formats.
        losses: what the output format cannot represent.
        files: the files that were written, if they are not standard output.
        findings: about the inputs and the losses.
    """

    json_schema: ClassVar[str] = "conversion"
    json_members: ClassVar[tuple[str, ...]] = (
        *("inputs", "output", "format", "written", "documents", "contents", "losses", "files"),
        *("findings", "counts"),
    )

    inputs: tuple[ConvertedInput, ...]
    output: str
    format: str
    written: bool
    documents: Count
    contents: Mapping[str, Count]
    losses: tuple[Loss, ...] = ()
    files: tuple[Listed, ...] = ()
    findings: Findings = Findings()

    def __repr__(self) -> str:
        forms = " and ".join(dict.fromkeys(each.format for each in self.inputs))
        outcome = count_of(len(self.files), "file") if self.written else "nothing written"
        losses = count_of(len(self.losses), "loss")
        return f"<Conversion: {forms} to {self.format}, {outcome}, {losses}>"

    @property
    def clean(self) -> bool:
        """Whether the output was written, and the inputs have no errors.

        Examples:
            >>> inputs = (ConvertedInput("a.txt", "text"),)
            >>> Conversion(inputs=inputs, output="b", format="ltf", written=False, documents=0,
            ...            contents={}).clean
            False
        """
        errors = any(finding.severity == Severity.ERROR for finding in self.findings)
        return self.written and not errors

    @property
    def verdict(self) -> Verdict:
        """Its findings in order, as a verdict without a task."""
        return Verdict("", "", self.clean, self.findings)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of findings by severity, code and side."""
        return self.verdict.counts


#: The platforms that bundles are made for.
Platform = Literal["codabench", "evalai"]
#: What of a result the page of a submission shows: not the reference, or everything.
Details = Literal["scores", "all"]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class Phase(msgspec.Struct, frozen=True):
    """A phase of a competition; dates are in UTC unless they have an offset.

    Attributes:
        name: for people.
        description: what it is about, in Markdown.
        start: its date, and time if it is not midnight.
        end: likewise; only the last phase may have none.
        reference: path of its reference; that of the command if it is empty.
        submissions: the most submissions of a participant.
        submissions_per_day: likewise, in a day.
        time_limit: seconds that scoring a submission may take.
    """

    name: Name
    start: Name
    end: Name = ""
    description: Name = ""
    reference: Name = ""
    submissions: Positive = 100
    submissions_per_day: Positive = 5
    time_limit: Positive = 600


class Publication(msgspec.Struct, frozen=True):
    """A competition on a platform: what publish.toml declares; paths are relative to the file.

    Attributes:
        title: of the competition; that of the task if it is empty.
        description: one line.
        organizers: who organizes it, for the page of terms.
        contact: an address for e-mail.
        image: the image in which the scoring program runs; if it is empty, that of Python in the
            version that makes the bundle.
        profile: `plan` or `official`.
        metrics: the columns of the leaderboard, the one that ranks first; the most important ones
            of the task if there are none.
        precision: decimals of columns.
        intervals: resamples for columns with the limits of intervals; 0 for none.
        details: what participants see of their results.
        example: a submission that participants get, and that is scored to check the bundle.
        documents: what submissions are made for and checked against, which participants get.
        options: values of the options of the task.
        phases: the phases in order; one without an end if there are none.
    """

    title: Name = ""
    description: Name = ""
    organizers: Name = ""
    contact: Name = ""
    image: Name = ""
    profile: Profile = "plan"
    metrics: SomeNames = ()
    precision: Annotated[int, msgspec.Meta(ge=0, le=10)] = 4
    intervals: Annotated[int, msgspec.Meta(ge=0)] = 0
    details: Details = "scores"
    example: Name = ""
    documents: Name = ""
    options: Mapping[str, object] = {}
    phases: tuple[Phase, ...] = ()
