"""Scoring programs of competition platforms: what they do, and the files that they are made of.

A worker of Codabench unpacks the reference data to `INPUT/ref` and the submission to `INPUT/res`,
runs a program, and takes `scores.json` and `detailed_results.html` from `OUTPUT`. The program ends
with another status than 0 if there are no scores: the submission then has failed, and the page and
standard error are all that its author sees.

A folder inside the archive of a submission, the commonest mistake, is opened; what the worker
itself writes beside the files of a submission is left out.
"""

import io
import json
import marshal
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import metadata, resources
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from hlteval import __version__
from hlteval.extensions import CODES, FORMATS, RULES, TASKS
from hlteval.findings import SUBMISSION, Finding, Findings, finding
from hlteval.reports.html import make_page
from hlteval.reports.html.scores import smaller
from hlteval.results.packages import Details, Publication
from hlteval.results.scores import LIMITS, Scores, flat_names
from hlteval.results.verdict import Refusal, Verdict
from hlteval.sources import Source, Unreadable, open_source, writing
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_junk, printable
from hlteval.sources.opening import OpenInput
from hlteval.sources.writing import check_outputs
from hlteval.tasks import is_file
from hlteval.tasks.generic.declaration import Declaration
from hlteval.tasks.options import merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.tasks.toml_file import read_toml
from hlteval.validators.platforms import codabench, evalai
from hlteval.validators.platforms.bundle import LIMITS as BUNDLES
from hlteval.validators.platforms.bundle import Bundle, python_of
from hlteval.validators.platforms.trial import MOST_BYTES, PAGE, SCORES
from hlteval.workflows.run import engine
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.verdicts import Refused

Result = Scores | Refusal

#: Files of a bundle, or of an archive in it, by name.
Files = dict[str, bytes]
#: The libraries that some tasks need beside those of all tasks, as extras.
_EXTRAS: Mapping[str, str] = {"lorehlt-mt": "mt"}
_NAME = re.compile("[A-Za-z0-9._-]+")
#: The platforms of wheels that images of Linux take.
_WHEELS = tuple(f"manylinux{name}_x86_64" for name in ("_2_28", "_2_27", "_2_17", "2014"))
#: The folders of the reference data and of the submission.
REFERENCE, RESULT = "ref", "res"
#: The name of a submission, of which only the files have names.
SUBMITTED = "<submission>"
#: The maximum length of the key of a column, which limits of intervals extend.
MOST_CHARACTERS = 36
#: The number of columns where none are chosen.
MOST_COLUMNS = 8
#: The file with exit codes that a worker adds to the files of a submission.
_OF_WORKER, _STATUS = "metadata", b"exitCode"
_HELP = "fix the blocking findings, and submit again"
#: Tables that do not quote the reference.
_NUMBERS_ONLY = frozenset({"scorings", "curve", "pr", "ndcg"})


def column_keys(metrics: Sequence[str]) -> dict[str, str]:
    """The keys of the columns of metrics: letters, digits and `_`, each unique.

    They have up to 36 characters with the ends of the limits of an interval, which a submission may
    lack: the keys of a bundle must not depend on it.

    Args:
        metrics: the names of the metrics, in the order of the columns.

    Examples:
        >>> column_keys(["f1", "sets:is_first:span.fscore"])
        {'f1': 'f1', 'sets:is_first:span.fscore': 'sets_is_first_span_fscore'}
    """
    return flat_names(metrics, MOST_CHARACTERS - max(map(len, LIMITS)))


def default_columns(request: Request) -> list[str]:
    """The metrics that a leaderboard shows: the one that ranks, then rates of the same measure.

    Examples:
        >>> default_columns(Request("seedev-full", ""))
        ['f1', 'recall', 'precision', 'ser']
    """
    task = request.definition
    options = merge_options(task, request.options)
    return task.beside(task.ranking(request.profile, options), task.metrics)[:MOST_COLUMNS]


def flat_scores(scores: Scores, columns: Sequence[str]) -> dict[str, float]:
    """The numbers of columns and limits of intervals by their keys; undefined ones are absent.

    Raises:
        WrongOption: for a column that is not a metric of the scores, or is given twice.
    """
    if repeated := [name for name in columns if columns.count(name) > 1]:
        raise WrongOption(f"the column {repeated[0]} is given twice")
    if unknown := [name for name in columns if name not in scores.metrics]:
        most = ", ".join(list(scores.metrics)[:5])
        raise WrongOption(f"no metric {unknown[0]} in the scores of {scores.task}; use {most}, …")
    return scores.to_flat_dict(column_keys(columns))


def score_folders(
    request: Request,
    folders: Path,
    output: Path,
    columns: Sequence[str] = (),
    details: Details = "scores",
) -> Result:
    """Score a submission in the folders of a platform, and write its numbers and its page.

    Args:
        request: the task, its options, and how it is scored.
        folders: the folder of `ref` and `res`.
        output: the folder to write to, which may be absent.
        columns: the metrics that are written; by default those of `default_columns`.
        details: whether the page shows `all`, or only the scores and the findings of the
            submission, so that nobody learns the reference from it.

    Returns:
        The scores, or why there are none; `scores.json` is then absent.

    Raises:
        FileNotFoundError: if a folder is missing or empty.
        FileExistsError: if a file would be written into what is read.
        WrongOption: for a column that is not a metric of the task, or is given twice.
    """
    task, shows_all = request.definition, details == "all"
    given = open_submission(folders / RESULT, task)
    check_outputs([output / SCORES, output / PAGE], [folders / RESULT, folders / REFERENCE])
    reference = "" if task.scored_alone else str(find_files(folders / REFERENCE, task))
    request = replace(
        request,
        system=OpenInput(given),
        reference=reference,
        alignment=shows_all,
        evidence=shows_all,
    )
    files = {}
    result: Result
    try:
        result = scores = engine.score(request)
        numbers = flat_scores(scores, columns or default_columns(request))
        files[SCORES] = json.dumps(numbers, indent=1) + "\n"
    except Refused as refused:
        words = ["hlteval", "validate", Path(task.name).name, "SUBMISSION"]
        result = refused.result(words + task.option_words("validate", request.options))
        if not refused.whole:
            result = msgspec.structs.replace(result, help=_HELP)
    result = with_short_paths(result, {str(folders / RESULT): "", reference: "reference"})
    files[PAGE] = fitting_page(result if shows_all else without_reference(result))
    output.mkdir(parents=True, exist_ok=True)
    (output / SCORES).unlink(missing_ok=True)
    for name, text in files.items():
        with writing(output / name) as unfinished:
            unfinished.write_text(text, "utf-8", errors="backslashreplace", newline="")
    return result


def find_files(folder: Path, task: Task) -> Path:
    """The path of what is in a folder: the only file in it, or the folder that has the files.

    Folders that have nothing but one folder are passed through. A file stays in its folder where
    submissions to the task are folders.

    Args:
        folder: the folder.
        task: the task.

    Raises:
        FileNotFoundError: if it does not exist, or has no files.
    """
    while True:
        if not folder.is_dir():
            raise FileNotFoundError(f"no folder {folder}")
        entries = [each for each in sorted(folder.iterdir()) if not is_junk(each.name)]
        entries = [each for each in entries if not is_of_worker(each)]
        if not entries:
            raise FileNotFoundError(f"no files in {folder}")
        first = entries[0]
        if len(entries) > 1 or first.name in task.hooks.inner_folders:
            return folder
        if not first.is_dir():
            packed = first.name.lower().endswith(ARCHIVE_SUFFIXES)
            return first if packed or not task.submitted_as_folder else folder
        folder = first


def is_of_worker(file: Path) -> bool:
    """Whether a file has the exit codes that a worker adds to the files of a submission."""
    if file.name != _OF_WORKER or not file.is_file():
        return False
    with file.open("rb") as stream:
        return _STATUS in stream.read(1000)


def open_submission(folder: Path, task: Task) -> Source:
    """The submission in a folder: its files, or those of the only archive that it has.

    It has no name, so that no rule about names of archives applies.

    Raises:
        FileNotFoundError: if it does not exist, or has no files.
    """
    path = find_files(folder, task)
    source = open_source(str(path))
    members = [each for each in source.members if not is_of_worker(path / each.name)]
    return replace(source, path=SUBMITTED, members=tuple(members))


def with_short_paths(result: Result, prefixes: Mapping[str, str]) -> Result:
    """A result that names files by their paths in the submission or in the reference.

    Args:
        result: the scores, or a refusal.
        prefixes: what takes the place of the paths of folders.
    """

    def with_short_path(finding: Finding) -> Finding:
        for prefix, other in prefixes.items():
            if finding.file and finding.file.startswith(f"{prefix}/"):
                path = f"{other}/{finding.file.removeprefix(f'{prefix}/')}".removeprefix("/")
                return msgspec.structs.replace(finding, file=path)
        return finding

    paths = {side: prefixes.get(path) or path for side, path in result.verdict.paths.items()}
    if isinstance(result, Scores):
        notes = [note.replace(f"'{SUBMITTED}'", "SUBMISSION") for note in result.notes]
        for prefix, other in prefixes.items():
            notes = [note.replace(prefix, other.upper()) if prefix else note for note in notes]
        result = msgspec.structs.replace(result, notes=tuple(notes))
    return with_findings(
        result, map(with_short_path, result.verdict.findings), with_short_path, paths
    )


def without_reference(result: Result) -> Result:
    """A result for its page: nothing in it quotes the reference.

    Findings of the submission remain, and tables with nothing but numbers.
    """

    def hide(finding: Finding) -> Finding:
        if finding.side == SUBMISSION:
            return finding
        return msgspec.structs.replace(finding, excerpt=None, record=None)

    findings = result.verdict.findings
    kept = (each for each in findings if each.side == SUBMISSION or each.blocking)
    if isinstance(result, Scores):
        tables = {name: each for name, each in result.tables.items() if name in _NUMBERS_ONLY}
        result = msgspec.structs.replace(result, tables=tables, evidence=None)
    return with_findings(result, map(hide, kept), hide)


def with_findings(
    result: Result,
    findings: Iterable[Finding],
    change: Callable[[Finding], Finding],
    paths: Mapping[str, str] | None = None,
) -> Result:
    """A result with other findings.

    Args:
        result: the scores, or a refusal.
        findings: those of the verdict.
        change: gives those that are the reason of a refusal.
        paths: the paths of the sides; those of the verdict if there are none.
    """
    verdict = msgspec.structs.replace(
        result.verdict, findings=Findings(findings), paths=paths or result.verdict.paths
    )
    if isinstance(result, Refusal):
        blocking = tuple(map(change, result.blocking))
        return msgspec.structs.replace(result, verdict=verdict, blocking=blocking)
    return msgspec.structs.replace(result, verdict=verdict)


def fitting_page(result: Result, most: int = MOST_BYTES) -> str:
    """The page of a result that is not larger than a platform shows.

    What is less important is left out, which the page says.

    Args:
        result: the scores, or a refusal.
        most: the maximum size in bytes.
    """
    page = ""
    for each in smaller(result):
        page = make_page(each).html()
        if len(page.encode("utf-8", "replace")) <= most:
            break
    return page


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """The archive of files: equal files make equal archives.

    Examples:
        >>> zip_files({"a": b"1", "b": b""}) == zip_files({"b": b"", "a": b"1"})
        True
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            packed = name.endswith(".zip")  # which would not get smaller
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def files_of(source: Source, suffixes: Sequence[str] = ()) -> Files:
    """The files of a source by name, of some suffixes if they are given.

    Raises:
        WrongOption: if one cannot be read.
    """
    try:
        return {
            member.name or member.basename: member.fetch()
            for member in source.members
            if member.basename.endswith(tuple(suffixes) or "")
        }
    except Unreadable as error:
        raise WrongOption(f"{source.path}: {error.finding.message}") from error


def below(folder: str, files: Mapping[str, bytes]) -> Files:
    """Files in a folder."""
    return {f"{folder}/{name}": data for name, data in files.items()}


def task_files(task: Task) -> Files:
    """The files that declare a task, where files do, by their names."""
    if not is_file(task.name):
        return {}
    file = Path(task.name)
    files = {file.name: file.read_bytes()}
    for other in read_toml(task.name, "task", "TSK", Declaration).named_files.values():
        files[other] = (file.parent / other).read_bytes()  # which is in the folder, or below
    return files


def program_files(
    request: Request, publication: Publication, columns: Iterable[str], vendor: str = ""
) -> Files:
    """The files of a scoring program, which calls `hlteval platform`.

    Args:
        request: the task and its options.
        publication: the settings of the competition.
        columns: the metrics that it writes.
        vendor: the image for whose Python it has its libraries; empty if it has none.
    """
    task = request.definition
    files = {**below("task", task_files(task)), **below("packages", package_files())}
    values: dict[str, str] = merge_options(task, request.options)
    for option in task.options:
        if option.is_input and (path := values.get(option.name)):
            given = files_of(open_source(path))
            only = next(iter(given), "") if len(given) == 1 else ""
            place = f"options/{option.name}"
            files |= below(place, given)
            values[option.name] = f"{place}/{only}" if only else place
    name = f"task/{Path(task.name).name}" if is_file(task.name) else task.name
    words = ["--profile", publication.profile, "--columns", ",".join(columns)]
    words += ["--details", publication.details]
    if publication.intervals:
        words += ["--bootstrap", str(publication.intervals)]
    words += task.option_words("score", values)
    files["requirements.txt"] = "".join(f"{each}\n" for each in requirements(task)).encode()
    files["score.py"] = _PROGRAM.format(version=__version__, task=name, words=words).encode()
    return with_libraries(files, vendor) if vendor else files


_PROGRAM = '''\
"""Score a submission: `score.py INPUT OUTPUT`. Made by hlteval {version}."""

import importlib.util
import os
import subprocess
import sys
import tempfile

if sys.version_info < (3, 11):
    sys.exit("the image has Python %d.%d; hlteval needs 3.11 or later" % sys.version_info[:2])
folders = [os.path.abspath(path) for path in sys.argv[1:3]]
here = os.path.dirname(os.path.abspath(__file__))
os.chdir(here)  # the paths of options are relative
sys.path.insert(0, os.path.join(here, "packages"))
if any(importlib.util.find_spec(name) is None for name in ("msgspec", "polars", "typer")):
    target = tempfile.mkdtemp()  # the image lacks the libraries, and the bundle has none
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", target]
    if subprocess.call([*command, "-r", "requirements.txt"]):
        sys.exit("libraries are missing: make the bundle with --vendor, or use another image")
    sys.path.append(target)

from hlteval.cli import main

options = {words}
sys.argv = ["hlteval", "platform", "{task}", *folders, *options]
main()
'''


_ROOMS = ("converters", "grammars", "scoring", "validators")
"""The packages that are not in the folder of hlteval in a checkout."""


def package_files() -> Files:
    """The code of hlteval and of the packages that extend it, as they are installed."""
    files: Files = {}
    for name in ("hlteval", *(f"hlteval.{room}" for room in _ROOMS)):
        files |= below(name.replace(".", "/"), folder_files(Path(str(resources.files(name)))))
    for distribution in extension_packages():
        for path in distribution.files or ():
            inside = not path.is_absolute() and ".." not in path.parts
            if inside and path.suffix != ".pyc" and Path(str(path.locate())).is_file():
                files[path.as_posix()] = Path(str(path.locate())).read_bytes()
    return {name: data for name, data in files.items() if not name.startswith("hlteval/demo/")}


def folder_files(folder: Path) -> Files:
    """The files of a folder of modules, but for what Python compiles."""
    files: Files = {}
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and entry.name != "__pycache__" and not is_junk(entry.name):
            files |= below(entry.name, folder_files(entry))
        elif entry.is_file() and entry.suffix != ".pyc":
            files[entry.name] = entry.read_bytes()
    return files


def with_libraries(files: Files, image: str) -> Files:
    """The files of a program with the libraries of its requirements, for the Python of an image.

    They are unpacked, and compiled if that Python is this one, so that the program starts soon.

    Args:
        files: those of the program.
        image: the name of the image, which says its Python.

    Raises:
        WrongOption: if the image does not say its Python, or pip cannot get a library for it.
    """
    version = python_of(image)
    if version is None:
        raise WrongOption(f"the image {image} does not say its Python; use python:3.12 or the like")
    with TemporaryDirectory(prefix="hlteval-") as folder:
        listed = Path(folder, "requirements.txt")
        listed.write_bytes(files["requirements.txt"])
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        words += ["--only-binary", ":all:", "--implementation", "cp", "--disable-pip-version-check"]
        words += ["--python-version", "{}.{}".format(*version), "--requirement", str(listed)]
        words += [word for name in _WHEELS for word in ("--platform", name)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["pip is missing"])[-1]
            raise WrongOption(f"--vendor: {reason}")
        libraries: Files = {}
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if not name.endswith("/")]
                libraries |= {name: archive.read(name) for name in names}
    code = {**libraries, **files_below("packages", files)}
    if version == sys.version_info[:2]:
        code |= bytecode(code)
    others = {name: data for name, data in files.items() if not name.startswith("packages/")}
    return {**others, **below("packages", code)}


def files_below(folder: str, files: Mapping[str, bytes]) -> Files:
    """The files in a folder, by their paths in it."""
    start = f"{folder}/"
    return {name[len(start) :]: data for name, data in files.items() if name.startswith(start)}


def bytecode(files: Mapping[str, bytes]) -> Files:
    """The modules among files as Python compiles them, which nothing compares with their source.

    Examples:
        >>> [name.partition(".")[0] for name in bytecode({"a/b.py": b"x = 1", "c.txt": b""})]
        ['a/__pycache__/b']
    """
    made: Files = {}
    for name, data in files.items():
        if name.endswith(".py"):
            with suppress(SyntaxError, ValueError):  # such as a test of a library
                code = compile(data, f"/app/program/packages/{name}", "exec", dont_inherit=True)
                head = MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(data)
                # The second version of marshal depends on nothing but the code.
                made[cache_from_source(name, optimization="")] = head + marshal.dumps(code, 2)
    return made


def extension_packages() -> list[metadata.Distribution]:
    """The installed packages that add tasks, formats, rules or codes."""
    groups = (TASKS, FORMATS, RULES, CODES)
    points = (point for group in groups for point in metadata.entry_points(group=group))
    found = {point.dist.name: point.dist for point in points if point.dist}
    return [found[name] for name in sorted(found)]


def requirements(task: Task) -> list[str]:
    """The libraries that scoring needs, with those that they need, in the installed versions."""
    waiting = ["hlteval", *(each.name for each in extension_packages())]
    extra, pins, seen = _EXTRAS.get(task.name, ""), dict[str, str](), set[str]()
    while waiting:
        name = waiting.pop()
        key = name.lower().replace("_", "-")
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if key in seen:
            continue
        seen.add(key)
        pins[key] = f"{distribution.name}=={distribution.version}"
        for line in distribution.requires or ():
            requirement, _, marker = line.partition(";")
            wanted = "extra" not in marker or (key == "hlteval" and f"'{extra}'" in marker)
            wanted = wanted or (key == "hlteval" and bool(extra) and f'"{extra}"' in marker)
            if wanted and (match := _NAME.match(requirement.strip())):
                waiting.append(match[0])
    ours = {"hlteval", *(each.name.lower().replace("_", "-") for each in extension_packages())}
    return [pin for key, pin in sorted(pins.items()) if key not in ours]


def check_bundle(path: str, *, max_time: int = 600) -> tuple[Verdict, str]:
    """Check the bundle of a competition, and run its scoring program on its example.

    The program runs only if nothing else is wrong.

    Args:
        path: the archive or folder of a bundle of any platform.
        max_time: seconds that the program may take at most.

    Returns:
        The verdict, and how the program ran; empty if it did not.

    Raises:
        FileNotFoundError: if there is no such bundle.
    """
    source = open_source(path, limits=BUNDLES)
    bundle = Bundle(source)
    findings, note = list(source.findings), ""
    names = {codabench.NAME: codabench, **dict.fromkeys(evalai.NAMES, evalai)}
    platform = next((names[name] for name in names if name in bundle.files), None)
    if platform is not None:
        findings += platform.check(bundle)
    elif not findings:
        inside = [name for name in bundle.files if name.rpartition("/")[2] in names]
        folder = inside[0].rpartition("/")[0] if inside else ""
        hint = f"pack the files in {folder}, not the folder" if folder else "add it"
        wanted = " or ".join((codabench.NAME, evalai.NAMES[0]))
        findings.append(finding("BDL202", file=printable(path), wanted=wanted, hint=hint))
    if platform is not None and not any(each.severity == "error" for each in findings):
        tried, note = platform.try_program(bundle, max_time)
        findings += tried
    passed = not any(each.severity == "error" for each in findings)
    return Verdict("", "", passed, Findings(findings), paths={SUBMISSION: path}), note
