"""The tables of a submission of CCU, by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from hlteval.converters.ccu.cells import describe_whole
from hlteval.converters.ccu.tables import Kind, identifier, number, place, words, words_of
from hlteval.syntax.tsv import Column

ND, ND_OPEN, ED, VD, AD, CD, NDMAP = "nd", "nd-open", "ed", "vd", "ad", "cd", "ndmap"
INDEX = "index"
INDEX_FILE, MAP_FILE = "system_output.index.tab", "nd.map.tab"
AUTO = "auto"
#: The values of a status that rules accept.
_STATUS = "(?:adhere|violate)(?:, ?(?:adhere|violate))*|EMPTY_NA"


def _level(name: str, heading: str) -> Column:
    return Column(
        name, "number", "[+-]?[0-9]{1,15}", "CCS110", heading=heading, describe=describe_whole
    )


@cache
def kinds() -> Mapping[str, Kind]:
    """The tables of a submission by task, and the index."""
    name, label = identifier("CCS", "file_id"), identifier("CCS", "label", "norm")
    start, end = (place("CCS", column) for column in ("start", "end"))
    llr = number("CCS", "llr")
    status, region = words("CCS", "status"), identifier("CCS", "region", "segment_id")
    status = replace(
        status, usual=_STATUS, words=("adhere", "violate", "adhere,violate", "EMPTY_NA")
    )
    processed = Column("is_processed", pattern="(?i:true|false)", code="CCS121", tolerated=True)
    return {
        ND: Kind("ND output", (name, label, start, end, status, llr), "CCS"),
        ND_OPEN: Kind("open ND output", (name, region, label, status, llr), "CCS"),
        ED: Kind(
            "ED output", (name, identifier("CCS", "label", "emotion"), start, end, llr), "CCS"
        ),
        VD: Kind("VD output", (name, start, end, _level("level", "valence_continuous")), "CCS"),
        AD: Kind("AD output", (name, start, end, _level("level", "arousal_continuous")), "CCS"),
        CD: Kind(
            "CD output",
            (
                *(name, place("CCS", "at", "timestamp"), llr),
                words("CCS", "direction", "direction_impact", optional=True),
                words("CCS", "strength", "strength_impact", optional=True),
            ),
            "CCS",
        ),
        NDMAP: Kind(
            MAP_FILE,
            (
                *(identifier("CCS", "label", "sys_norm"), identifier("CCS", "target", "ref_norm")),
                words("CCS", "submission", "sub_id"),
            ),
            "CCS",
        ),
        INDEX: Kind(
            INDEX_FILE,
            (name, processed, words("CCS", "message"), words("CCS", "path", "file_path")),
            "CCS",
        ),
    }


#: Columns that only one kind has.
_OWN_COLUMNS = (
    (INDEX, {"is_processed"}),
    (NDMAP, {"sys_norm"}),
    (NDMAP, {"ref_norm"}),
    (VD, {"valence_continuous"}),
    (AD, {"arousal_continuous"}),
    (CD, {"timestamp", "llr"}),
    (ED, {"emotion", "llr"}),
    (ED, {"emotion", "start", "end"}),
    (ND_OPEN, {"segment_id", "norm", "llr"}),
    (ND, {"norm", "llr"}),
    (ND, {"norm", "start", "end"}),
)


def task_of_header(header: str) -> str:
    r"""The task of a header, also of a damaged one; empty for other lines.

    Examples:
        >>> task_of_header("FILE_ID,NORM,START,END,STATUS,LLR")
        'nd'
        >>> task_of_header("user_id\tfile_id\tsegment_id\tnorm\tstatus")
        ''
    """
    found = set(words_of(header))
    if "user_id" in found:  # a table of a reference
        return ""
    return next((task for task, columns in _OWN_COLUMNS if columns <= found), "")
