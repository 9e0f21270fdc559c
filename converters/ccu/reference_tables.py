"""The tables of a reference of CCU."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hlteval.converters.ccu.cells import describe_number, describe_word
from hlteval.converters.ccu.tables import PLACE, Kind, identifier, words
from hlteval.syntax.tsv import Column

SEGMENTS, FILE_INFO = "docs/segments.tab", "docs/file_info.tab"
VERSIONS, NORM_INFO = "docs/versions_per_file.tab", "docs/norm_info.tab"
NORMS, EMOTIONS = "data/norms.tab", "data/emotions.tab"
LEVELS, CHANGES = "data/valence_arousal.tab", "data/changepoint.tab"
INDEX = "index_files/*.index.tab"
SYSTEM_INPUT = "system_input.index.tab"
#: Cells of a reference that is not finished, and of what has no value.
TO_DO, NOT_APPLICABLE = "EMPTY_TBD", "EMPTY_NA"
NONE, NO_ANNOTATION = "none", "noann"
#: The columns of numbers.
NUMBERS = ("start", "end", "length", "timestamp", "valence", "arousal")
NO_VALUE = (NONE, NO_ANNOTATION, NOT_APPLICABLE)


def _valued(name: str, heading: str, pattern: str, *others: str) -> Column:
    """A column of numbers, or words in their place; references of LDC have spaces beside them."""
    whole = f" *(?:{'|'.join([pattern, *others, TO_DO])}) *"
    return Column(name, pattern=whole, code="CCR107", heading=heading, describe=describe_number)


def _several() -> Column:
    return Column(
        "multi_speaker",
        pattern="|".join(["(?i:true|false)", *NO_VALUE, TO_DO]),
        code="CCR110",
        nullable=True,
        tolerated=True,
        describe=describe_word,
    )


def _lists() -> Mapping[str, tuple[Column, ...]]:
    """The columns of the tables of docs."""
    name = identifier("CCR", "file_id")
    return {
        SEGMENTS: (
            *(name, identifier("CCR", "segment_id")),
            *(_valued("start", "start", PLACE), _valued("end", "end", PLACE)),
        ),
        FILE_INFO: (
            identifier("CCR", "file_id", "file_uid"),
            words("CCR", "lang_id_manual", optional=True),
            words("CCR", "type"),
            _valued("length", "length", PLACE, ""),
        ),
        VERSIONS: (name,),
        NORM_INFO: (
            *(identifier("CCR", "norm"), words("CCR", "current_type")),
            words("CCR", "hidden_for", optional=True),
            words("CCR", "definition_file", optional=True),
        ),
        INDEX: (name,),
    }


def _data() -> Mapping[str, tuple[Column, ...]]:
    """The columns of the tables of data."""
    user, name = words("CCR", "user_id"), identifier("CCR", "file_id")
    judged = (user, name, identifier("CCR", "segment_id"))
    return {
        NORMS: (*judged, identifier("CCR", "norm"), words("CCR", "status")),
        EMOTIONS: (*judged, identifier("CCR", "emotion"), _several()),
        LEVELS: (
            *judged,
            _valued("valence", "valence_continuous", "[0-9]{1,15}", NO_ANNOTATION),
            words("CCR", "valence_binned"),
            _valued("arousal", "arousal_continuous", "[0-9]{1,15}", NO_ANNOTATION),
            words("CCR", "arousal_binned"),
        ),
        CHANGES: (
            *(user, name, _valued("timestamp", "timestamp", PLACE, *NO_VALUE)),
            words("CCR", "direction_impact", optional=True),
            *(words("CCR", "strength_impact"), words("CCR", "evidence")),
        ),
    }


@cache
def kinds() -> Mapping[str, Kind]:
    """The tables of a reference by the ends of their paths."""
    found = {path: Kind(path, columns, "CCR") for path, columns in {**_lists(), **_data()}.items()}
    older = (("impact_scalar", "strength_impact"), ("comment", "evidence"))
    return found | {
        FILE_INFO: Kind(FILE_INFO, found[FILE_INFO].columns, "CCR", others=True, short="file_uid"),
        VERSIONS: Kind(VERSIONS, found[VERSIONS].columns, "CCR", others=True),
        INDEX: Kind(INDEX, found[INDEX].columns, "CCR", others=True),
        CHANGES: Kind(CHANGES, found[CHANGES].columns, "CCR", also=older),
    }
