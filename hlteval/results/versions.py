"""The versions of the JSON of each result, which are its first two members.

Any change of what a result can contain raises its version by one: a member that is added, removed
or renamed, another type, another value of an enumeration. Other words in a description do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

VERSIONS: Mapping[str, int] = MappingProxyType(
    {
        "verdict": 1,
        "finding": 1,
        "fixed-copy": 1,
        "conversion": 1,
        "scores": 1,
        "refusal": 1,
        "comparison": 2,
        "leaderboard": 2,
        "agreement": 1,
        "verification": 1,
        "package": 1,
        "inspection": 1,
        "pipeline": 2,
        "best-submissions": 1,
        "campaign": 1,
        "campaign-table": 1,
        "defaults": 1,
        "tasks": 1,
        "formats": 1,
        "codes": 1,
        "schemas": 1,
        "hlteval-toml": 1,
        "campaign-manifest": 1,
        "evaluation-manifest": 1,
    }
)
"""The version of each schema by name; the last three are of files that you write."""


def head(schema: str) -> dict[str, str | int]:
    """The first members of a result in JSON: the name of its schema, and the version.

    Raises:
        KeyError: if there is no such schema.

    Examples:
        >>> head("scores")
        {'schema': 'scores', 'version': 1}
    """
    return {"schema": schema, "version": VERSIONS[schema]}
