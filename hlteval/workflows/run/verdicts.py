"""Refusals, notes and signatures of runs, and the submissions that paths are."""

import codecs
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path, PurePath

from hlteval import __version__
from hlteval.converters import known, load
from hlteval.findings import REFERENCE, SUBMISSION, Finding
from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.results.verdict import FIRST, Refusal, Signature, Verdict, content, digest
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_junk
from hlteval.sources.opening import OpenInput
from hlteval.tasks import load as load_tasks
from hlteval.tasks.task import Option, Task
from hlteval.workflows.run.batches import File, Pair, Submission

#: Codes of references with which there are no numbers, also if all that blocks is to be ignored.
NOTHING_TO_SCORE = frozenset({"REF101", "REF102", "REF103", "REF104", "REF106"})

#: Codes of references that depend on the submission: beside others they may be right.
BESIDE_A_SUBMISSION = frozenset({"REF104", "REF105"})


class Refused(ValueError):
    """A submission was not scored.

    Attributes:
        verdict: the verdict of validation, with all its findings.
        blocking: the findings because of which nothing was scored.
        fix: what to do.
    """

    def __init__(
        self, refused: Verdict, reason: str, fix: str, crashes: frozenset[str] = frozenset()
    ) -> None:
        blocking = [item for item in refused.findings if item.blocking or item.code in crashes]
        codes = sorted({finding.code for finding in blocking})
        super().__init__(f"{reason} ({', '.join(codes)})")
        self.verdict, self.fix = refused, fix
        self.blocking = tuple(blocking)

    @property
    def whole(self) -> bool:
        """Whether no other submission is scored against this reference either."""
        other = {finding.code for finding in self.blocking if finding.side != SUBMISSION}
        return bool(other - BESIDE_A_SUBMISSION)

    def result(self, command: Sequence[str] = ()) -> Refusal:
        """Return the refusal as a value, with the command that reports all findings."""
        return Refusal(self.verdict, str(self), self.fix, self.blocking, command)


def name_side(side: str, task: Task) -> str:
    """Name a side as in a sentence: that of an option is its file, or what it asks for."""
    options = {f"--{option.flag}": option for option in task.options}
    if side in options:
        return f"file of {side}" if options[side].is_input else f"option {side}"
    return side


def command_of(opened: Submission, side: str, encoding: str) -> str:
    """Return the command that shows the findings of a side, also of an option's file."""
    of_score = any(f"--{o.flag}" == side and o.commands == ("score",) for o in opened.task.options)
    name = "score" if of_score else "validate"
    words = ["hlteval", name, opened.task.name]
    reference = opened.reference.path if opened.reference else ""
    if side == REFERENCE:
        words += [reference, "--as", REFERENCE]
    elif of_score:
        words += ["-r", reference, "-s", opened.system.path]
    else:
        words += [opened.system.path, *(["--against", reference] if reference else [])]
    words += opened.task.option_words(name, opened.options)
    words += [] if encoding == "utf-8" else ["--encoding", encoding]
    return shlex.join(words)


def blocking_notes(judged: Verdict) -> Iterator[str]:
    """Note the findings that block, in spite of which was scored, if there are any."""
    blocking = [finding for finding in judged.findings if finding.blocking]
    codes = ", ".join(sorted({finding.code for finding in blocking}))
    if blocking:
        yield (
            f"scored despite {count_of(len(blocking), 'blocking finding')} ({codes}): missing "
            "documents and unreadable records are left out, all other records count as written"
        )


def warning_notes(judged: Verdict, noted: Collection[str]) -> Iterator[str]:
    """Note the warnings about files of options, which no other command shows, and some others.

    Args:
        judged: the verdict.
        noted: the codes of these others.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in judged.findings:
        listed = finding.side.startswith("--") or (finding.code in noted and not finding.blocking)
        if listed and finding.severity == "warning":
            groups.setdefault((finding.side, finding.code), []).append(finding)
    for (side, code), same in groups.items():
        more = f", and {len(same) - 1:,} more" if len(same) > 1 else ""
        where = f": {same[0].file}{same[0].position}" if same[0].file else ""
        hint = f"; {same[0].help}" if code in noted else ""
        yield f"{side}{where}: {same[0].message}{hint} ({code}){more}"


def size_notes(task: Task, names: Iterable[str], documents: int) -> Iterator[str]:
    """The note about intervals of measures whose mean grows with the number of documents.

    Args:
        task: the task.
        names: the metrics that have intervals.
        documents: the number of documents that were scored.
    """
    grow = [name for name in names if (statistic := task.statistic(name)) and statistic.grows]
    if grow:
        listed = ", ".join(dict.fromkeys(name.partition(".")[0] for name in grow))
        yield (
            f"intervals of {listed} are for corpora of {documents:,} documents: with more "
            "documents, these values are higher on average; see biased measures in "
            "docs/intervals.md"
        )


def files_of(pair: Pair) -> dict[str, dict[File, None]]:
    """The files of a batch, by side; of a task without references, of one side."""
    sides = {} if pair.reference is pair.system else {"reference": pair.reference}
    sides["system"] = pair.system
    return {side: dict.fromkeys(files_in(result.corpus)) for side, result in sides.items()}


def signature(
    opened: Submission, files: Mapping[str, Iterable[File]], *, lenient: bool, more: str = ""
) -> Signature:
    """Return all that the numbers of a submission depend on.

    Args:
        opened: the submission, with the values of the task's options.
        files: the files that were read, by side.
        lenient: whether blocking findings were ignored.
        more: further parts, such as those of confidence intervals.
    """
    parts = [(FIRST, __version__), ("task", opened.task.display_name)]
    parts += [*opened.task.signed.items(), ("profile", opened.profile)]
    parts += [(side, digest_of(files[side])) for side in ("reference", "system") if files.get(side)]
    parts += option_parts(opened)
    encodings = {codecs.lookup(member.encoding).name for member in opened.system.members}
    parts += [("encoding", name) for name in sorted(encodings) if name != "utf-8"]
    parts += [("lenient", "yes" if lenient else "no")]
    parts += Signature.parse(f"{FIRST}:|{more}").parts[1:] if more else ()
    return Signature(tuple(parts))


def option_parts(opened: Submission) -> Iterator[tuple[str, str]]:
    """The options of the task with their values, or the digests of the files that they name."""
    declared = {option.name: option for option in opened.task.options}
    for name, value in opened.options.items():
        corpus = opened.files.corpora.get(name)
        if corpus is not None and corpus.sources.height:  # a list of names has none
            yield name, digest_of(files_in(corpus))
        else:
            yield name, content(value) if names_file(declared.get(name)) else value


def names_file(option: Option | None) -> bool:
    """Whether an option names a file that numbers depend on.

    Examples:
        >>> from hlteval.tasks import load
        >>> [option.name for option in load("lorehlt-edl").options if names_file(option)]
        ['type_weights', 'exclude', 'texts', 'documents', 'kb']
        >>> [option.name for option in load("lorehlt-mt").options if names_file(option)]
        ['subset', 'sf_justifications', 'sf_scores', 'meteor_jar']
    """
    return option is not None and option.placeholder in {"FILE", "JAR"}


def digest_of(files: Iterable[File]) -> str:
    """The digest of files, whose names matter where their format has files for each document.

    Examples:
        >>> digest_of([("run1.json", "speech-sf-json", "0123456789abcdef0123")])
        '0123456789abcdef'
    """
    each = list(files)
    forms = {form for _, form, _ in each}
    matters = any(form in known() and load(form).layout == "per_document" for form in forms)
    return digest(((name, sha256) for name, _, sha256 in each), name_matters=matters)


def files_in(corpus: Corpus) -> list[File]:
    """The files that a corpus was read from."""
    return corpus.sources.select("member", "format", "sha256").rows()


#: The end of the name of the index that some submissions have.
_INDEX = ".index.tab"


def submissions(task: str, paths: Iterable[str]) -> list[str]:
    """The submissions that files belong to, each once, in order.

    If submissions to the task are folders, a file means its folder; archives, folders and
    standard input are submissions themselves. A folder inside another one is part of it.

    Args:
        task: name of the task.
        paths: files, and anything else that is a submission.

    Examples:
        >>> submissions("seedev-full", ["runs/1/a.a2", "runs/1/b.a2", "runs/2/a.a2", "c.zip"])
        ['runs/1', 'runs/2', 'c.zip']
        >>> submissions("hub4", ["runs/a.tpl", "runs/b.tpl"])
        ['runs/a.tpl', 'runs/b.tpl']
        >>> submissions("ccu-reference", ["ann/data/norms.tab", "ann/index_files/a.tab"])
        ['ann']
    """
    declared = load_tasks(task)
    if not declared.submitted_as_folder:
        return expand_folders(task, list(dict.fromkeys(paths)))[0]
    folders: list[str] = []
    for path in paths:
        if path == "-" or path.lower().endswith(ARCHIVE_SUFFIXES) or Path(path).is_dir():
            folders.append(path)
        else:
            folder = Path(path).parent
            inner = folder.name in declared.hooks.inner_folders
            folders.append(str(folder.parent if inner else folder))
    every = {Path(path) for path in folders}
    outermost = [path for path in dict.fromkeys(folders) if every.isdisjoint(Path(path).parents)]
    return expand_folders(task, outermost)[0]


def expand_folders(
    task: str, paths: Sequence[str], reference: object = None
) -> tuple[list[str], list[str]]:
    """Replace folders whose members are submissions by these members.

    The members are submissions if there are several, and all of them are folders or archives; or,
    where a submission is a single file, archives or files of its format. If the reference of such
    a task in a file is a folder, files of a folder are documents as in there.

    Args:
        task: name of the task.
        paths: folders, and anything else that is a submission.
        reference: path of the reference, if there is one.

    Returns:
        The paths of the submissions, and a note about each folder that is replaced.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a", "b"):
        ...         _ = Path(folder, f"{name}.tpl").write_text("")
        ...     found, notes = expand_folders("hub4", [folder])
        ...     [Path(path).name for path in found], notes[0].partition(" has ")[2]
        (['a.tpl', 'b.tpl'], '2 submissions; each is one of its own')
    """
    expanded: list[str] = []
    notes = []
    declared = load_tasks(task)
    split = isinstance(reference, str) and Path(reference).is_dir()
    split = split and not declared.packaging.by_format
    for path in paths:
        members = _members(path, declared, split=split)
        expanded += members or [path]
        if members:
            notes.append(f"{path} has {len(members)} submissions; each is one of its own")
    return list(dict.fromkeys(expanded)), notes


def _members(path: str, task: Task, *, split: bool) -> list[str]:
    """The members of a folder of submissions, in order; none of anything else."""
    if isinstance(path, OpenInput) or not Path(path).is_dir():
        return []
    found = (entry for entry in os.scandir(path) if not is_junk(entry.name))
    # An entry of `scandir` raises an error for a link that leads to itself, a path does not.
    safe = (Path(entry.path) if entry.is_symlink() else entry for entry in found)
    entries = sorted(safe, key=attrgetter("name"))
    files = [each.name for each in entries if each.is_file()]
    plain = {PurePath(name).suffix for name in files if not name.lower().endswith(ARCHIVE_SUFFIXES)}
    if task.submitted_as_folder:
        suffixes = task.submission_suffixes or (_INDEX,)
        folders = (each for each in entries if each.is_dir())
        alike = not plain and all(
            any(Path(folder).glob(f"*{end}")) for folder in folders for end in suffixes
        )
    else:
        form = load(task.format)  # a file for each document makes one submission
        alike = len(files) == len(entries) and plain <= {*form.suffixes}
        alike = alike and form.layout == "single_file" and not (split and plain)
    return [str(Path(path, each.name)) for each in entries] if len(entries) > 1 and alike else []
