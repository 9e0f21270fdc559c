"""Identifiers of submissions: what the plan says of them in Table 5, SUB_ID.

`CCU_<phase>_<technical_area>_<task>_<team>_<dataset>_<timestamp>`, read from the right: the
timestamp has two parts, and no part has an underscore in it.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from hlteval.findings.suggest import closest

FORM = "CCU_<phase>_<technical area>_<task>_<team>_<dataset>_<YYYYMMDD>_<HHMMSS>"
PREFIX = "CCU_"
PHASES, AREAS = ("P1", "P2"), ("TA1", "TA2")
TASKS = ("ND", "NDMAP", "VD", "AD", "ED", "CD")
TEAMS = ("COL", "LCC", "MON", "PAR")
DATASET = re.compile(r"LDC[0-9]{4}[A-Z][0-9]{2,3}-V[0-9]+(\.[0-9]+)?")
_DATE, _TIME = re.compile("[0-9]{8}"), re.compile("[0-9]{6}")
_PARTS = 8


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
    parts = written.split("_")
    if len(parts) != _PARTS or parts[0] != PREFIX.rstrip("_"):
        return None
    _, phase, area, task, team, dataset, date, time = parts
    return SubmissionId(phase, area, task, team, dataset, f"{date}_{time}")


def malformed(written: str) -> str:
    """How to correct an identifier that does not have the form; empty if it does.

    Examples:
        >>> malformed("CCU_P1_TA1_nd_LCC_LDC2022R17-V1_20220719_110203")
        'did you mean ND, not nd?'
        >>> malformed("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_110203")
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
    date, _, time = written.partition("_")
    if not (_DATE.fullmatch(date) and _TIME.fullmatch(time)):
        return False
    try:
        datetime.strptime(f"{date}{time}", "%Y%m%d%H%M%S")
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
