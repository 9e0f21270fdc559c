"""Templates: the values of a finding, read back from its message and help."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from hlteval.findings.catalogue import entry
from hlteval.findings.finding import Finding


def values(finding: Finding) -> dict[str, str]:
    """The values of the templates of a finding, as text.

    Examples:
        >>> from hlteval.findings import finding
        >>> values(finding("EDL216", given="3_4", fix="3-4"))
        {'given': '3_4', 'fix': '3-4'}
    """
    declared = entry(finding.code)
    found = [
        _pattern(template.strip()).fullmatch(text)
        for template, text in (
            (declared.message, finding.message),
            (declared.help, finding.help or ""),
        )
    ]
    return {name: value for match in found if match for name, value in match.groupdict().items()}


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A pattern with a group for the first use of each field of a template."""
    parts, seen = [], set[str]()
    for literal, field, _, _ in Formatter().parse(template):
        parts.append(re.escape(literal))
        if field and "|" in field:
            parts.append(f"(?:{'|'.join(map(re.escape, field.split('|')[1:]))})")
        elif field:
            parts.append(f"(?P={field})" if field in seen else f"(?P<{field}>.*)")
            seen.add(field)
    return re.compile("".join(parts), re.DOTALL)
