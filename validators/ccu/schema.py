"""The schema of CCU: the task and the options of what is checked."""

from collections.abc import Mapping
from dataclasses import dataclass

#: The table of the rows of a submission, by task; of a reference, that of its classes.
TABLES = {
    **dict.fromkeys(("nd", "ed", "reference"), "instances"),
    **dict.fromkeys(("vd", "ad"), "ratings"),
    "cd": "changes",
}
#: What the rows of the tables `instances` and `ratings` are, by task.
KINDS: Mapping[str, str] = {"nd": "norm", "ed": "emotion", "vd": "valence", "ad": "arousal"}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The task and the options of what is checked.

    Attributes:
        task: the task without its prefix, such as `nd`.
        kind: the kind of the rows that the task is about; empty for all.
        reference: whether a reference is checked.
        gaps: whether levels may have gaps.
    """

    task: str
    kind: str
    reference: bool
    gaps: bool


def schema_of(options: Mapping[str, str], reference: bool = False, *, task: str) -> Allowed:
    """Return what a submission, or a reference, may have.

    Examples:
        >>> schema_of({"gaps": "yes"}, task="vd")
        Allowed(task='vd', kind='valence', reference=False, gaps=True)
    """
    gold = reference or task == "reference"
    return Allowed(task, KINDS.get(task, ""), gold, options.get("gaps") == "yes")
