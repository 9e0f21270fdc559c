"""Rules of CCU about a submission as a package (CCU201 to CCU209, and CCU509)."""

import posixpath
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from hlteval.converters.ccu.submission import MAP_FILE, NDMAP, find_misnamed
from hlteval.findings import Finding, finding
from hlteval.findings.suggest import closest
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.archives import first_names
from hlteval.validators.packages import Package

# Identifiers of submissions: what the plan says of them in Table 5, SUB_ID.
#
# `CCU_<phase>_<technical_area>_<task>_<team>_<dataset>_<timestamp>`, read from the right: the
# timestamp has two parts, and no part has an underscore in it.


FORM = "CCU_<phase>_<technical area>_<task>_<team>_<dataset>_<YYYYMMDD>_<HHMMSS>"
PREFIX = "CCU_"
PHASES, AREAS = ("P1", "P2"), ("TA1", "TA2")
TASKS = ("ND", "NDMAP", "VD", "AD", "ED", "CD")
TEAMS = ("COL", "LCC", "MON", "PAR")
DATASET = re.compile(r"LDC[0-9]{4}[A-Z][0-9]{2,3}-V[0-9]+(\.[0-9]+)?")
_TIME = re.compile("[0-9]{8}_[0-9]{6}")
_WRITTEN = re.compile(PREFIX + "_".join(["([^_]*)"] * 5) + "_([^_]*_[^_]*)")


class SubmissionId(NamedTuple):
    """The parts of an identifier, as written."""

    phase: str
    area: str
    task: str
    team: str
    dataset: str
    timestamp: str


def parse(written: str) -> SubmissionId | None:
    """The parts of an identifier; None if it has not so many.

    Examples:
        >>> parse("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220719_110203").dataset
        'LDC2022R17-V1'
        >>> parse("run-1") is None
        True
    """
    found = _WRITTEN.fullmatch(written)
    return SubmissionId(*found.groups()) if found else None


def form_problem(written: str) -> str:
    """How to correct an identifier that does not have the form; empty if it does.

    Examples:
        >>> form_problem("CCU_P1_TA1_nd_LCC_LDC2022R17-V1_20220719_110203")
        'did you mean ND, not nd?'
        >>> form_problem("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_110203")
        '20221331_110203 is not a date and a time of the form YYYYMMDD_HHMMSS'
    """
    parsed = parse(written)
    if parsed is None:
        return f"write {FORM}"
    for known, part in ((PHASES, parsed.phase), (AREAS, parsed.area), (TASKS, parsed.task)):
        if part not in known:
            near = closest(part, known)
            return f"did you mean {near}, not {part}?" if near else f"use {' or '.join(known)}"
    if not parsed.team or not parsed.dataset:
        return f"write {FORM}"
    if not is_time(parsed.timestamp):
        return f"{parsed.timestamp} is not a date and a time of the form YYYYMMDD_HHMMSS"
    return ""


def is_time(written: str) -> bool:
    """Whether it is a real date and time, written as YYYYMMDD_HHMMSS.

    Examples:
        >>> is_time("20220531_050236"), is_time("20221331_256161"), is_time("20220908_22222")
        (True, False, False)
    """
    if not _TIME.fullmatch(written):
        return False
    try:
        datetime.strptime(written, "%Y%m%d_%H%M%S")
    except ValueError:
        return False
    return True


def strange(parsed: SubmissionId) -> str:
    """The parts that the plan does not list; empty if it lists them all.

    Examples:
        >>> strange(parse("CCU_P1_TA1_ND_NIST_mini-eval1_20220531_050236"))
        'the team NIST and the dataset mini-eval1'
    """
    parts = [f"the team {parsed.team}"] if parsed.team not in TEAMS else []
    if not DATASET.fullmatch(parsed.dataset):
        parts.append(f"the dataset {parsed.dataset}")
    return " and ".join(parts)


_ARCHIVES = {"zip", "tgz"}
_SUFFIX, _TABLE = ".tgz", ".tab"
_PACKED = re.compile(r"\.(?:tgz|tar\.gz|tar|zip)$", re.IGNORECASE)
_WHOLE = re.compile(rb"[+-]?[0-9]+")


def findings(package: Package, *, task: str) -> Iterator[Finding]:
    """The findings about a submission as a package: its archive, name, folders and files.

    Args:
        package: the submission; a single file is a table alone.
        task: the task without its prefix, such as `nd`.
    """
    source = package.submission
    yield from check_name(source, task=task)
    if source.kind in _ARCHIVES:
        yield from _archive(source)
    names = {member.name for member in source.members}
    is_single = source.kind not in {"folder", *_ARCHIVES}
    renamed = None if is_single else find_misnamed(source.members, task)
    for member in source.members:
        is_map = member.basename == MAP_FILE
        if is_single or member is renamed:
            pass
        elif task == NDMAP and not is_map:
            yield finding("CCU207", file=member.display)
        elif task != NDMAP and is_map:
            yield finding("CCU208", file=member.display)
        elif not member.basename.endswith(_TABLE):
            yield finding("CCU209", file=member.display, hint=_other_file(member, names))
    for member in source.members:
        if member.basename.endswith(_TABLE) and _whole_scores(member):
            yield finding("CCU509", file=member.display)


def check_name(source: Source, *, task: str) -> Iterator[Finding]:
    """The findings about the name of an archive or a folder, whatever is inside.

    Args:
        source: the submission.
        task: the task without its prefix, such as `nd`.
    """
    name = ""
    if source.kind in _ARCHIVES and source.has_name:
        packed = posixpath.basename(source.path)
        name = _PACKED.sub("", packed)
        if not packed.endswith(_SUFFIX):
            yield finding("CCU201", file=source.path, name=packed, stem=name)
    elif source.kind == "folder":
        folder = Path(source.path).resolve().name
        name = folder if folder.startswith(PREFIX) else ""  # it is packed under another name
    parsed = parse(name)
    if name and (hint := form_problem(name)):
        yield finding("CCU204", file=source.path, name=name, hint=hint)
    elif parsed is not None:
        if parts := strange(parsed):
            yield finding("CCU205", file=source.path, parts=parts)
        if parsed.task != task.upper():
            given, lower = parsed.task, parsed.task.lower()
            yield finding("CCU206", file=source.path, given=given, task=task.upper(), lower=lower)


def _archive(source: Source) -> Iterator[Finding]:
    """The findings about the one folder that an archive holds."""
    stem = _PACKED.sub("", posixpath.basename(source.path)) if source.has_name else ""
    outside = [member.name for member in source.members if "/" not in member.name]
    folders = sorted({m.name.partition("/")[0] for m in source.members if "/" in m.name})
    if outside or len(folders) > 1:
        some = f"files outside of folders: {first_names(outside)}"
        found = some if outside else f"folders: {first_names(folders)}"
        yield finding("CCU202", file=source.path, found=found, stem=stem or "SUB_ID")
    elif folders and source.has_name and folders[0] != stem:
        yield finding("CCU203", file=source.path, folder=folders[0], stem=stem)


#: Suffixes of files that may be an output under another name.
_SHEETS = {"csv", "tsv", "txt", "xlsx", "xls", "ods"}


def _other_file(member: Member, names: Collection[str]) -> str:
    """The fix of a file that is not a table of a submission."""
    stem, suffix = posixpath.splitext(member.name)
    if suffix[1:].lower() not in _SHEETS or f"{stem}{_TABLE}" in names:
        return "remove it"
    table = f"{posixpath.basename(stem)}{_TABLE}"
    return f"if it is an output, write it as tab-separated text, as {table}; or remove it"


def _whole_scores(member: Member) -> bool:
    """Whether all scores of a table are whole numbers; not if it has none."""
    try:
        header, _, body = member.fetch().partition(b"\n")
    except Unreadable:
        return False
    columns = header.rstrip(b"\r").split(b"\t")
    if b"llr" not in columns:
        return False
    at = columns.index(b"llr")
    rows = (line.rstrip(b"\r").split(b"\t") for line in body.split(b"\n") if line.strip())
    scores = [row[at] if len(row) > at else b"" for row in rows]
    return bool(scores) and all(map(_WHOLE.fullmatch, scores))
