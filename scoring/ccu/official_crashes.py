"""Where the public scorer crashes: it then has no score, and neither has `official`."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu import official_changes
from hlteval.scoring.ccu.detection_options import ChangeOptions, DetectionOptions
from hlteval.scoring.ccu.official_detections import INDIVISIBLE, REFERENCE, UNLABELLED
from hlteval.scoring.ccu.official_inventory import NUMBERS, RECORDS, WORDS, counted, has_none


def of_instances(total: pl.DataFrame, options: DetectionOptions) -> str:
    """Why the scorer crashes on norms or emotions; empty if it does not.

    Args:
        total: the rows of all documents.
        options: what was chosen.
    """
    marks = set(total["criterion"].unique())
    silent = has_none(total, RECORDS, "system")
    stops = {
        "with --file-merge where no segment of a part of a document has a label": (
            UNLABELLED in marks
        ),
        "where the reference has no instance, or writes zeros of no class": REFERENCE not in marks,
        "where it filters a submission without instances": silent and options.llr_filter,
        "with --file-merge where a submission has no instances": silent and options.file_merge,
        "with several criteria of overlap": len(options.overlap) > 1,
        f"with {options.align} where an instance meets no reference of its class, in a "
        "document that has some and no no-score region": INDIVISIBLE in marks,
    }
    found = (_crash(where) for where, crashes in stops.items() if crashes)
    return "" if total.is_empty() else next(found, "")


def of_changes(total: pl.DataFrame, options: ChangeOptions) -> str:
    """Why the scorer crashes on change points; empty if it does not.

    The arguments are those of `of_instances`.
    """
    if total.is_empty():
        return ""
    if has_none(total, RECORDS, "system"):
        return _crash("on a submission without change points")
    if has_none(total, NUMBERS, "llr") and official_changes.first_has_system(total, options):
        return _crash("where all scores are whole numbers: it cannot write a curve of them")
    some = not total.filter(criterion=official_changes.REFERENCE).is_empty()
    if some and counted(total, WORDS, "reference"):
        where = "the reference has none for a change point, or EMPTY_TBD"
        return _crash(f"where {where}: its places are then words")
    return ""


def _crash(where: str) -> str:
    return f"no official score: the public scorer crashes {where}"
