"""How much code there is, and how finely it is divided: `python -m house.size [--list MEASURE]`.

A line of code is neither empty nor a comment nor part of a docstring. Links are not followed.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
ROOMS = ("converters", "grammars", "hlteval", "scoring", "validators")
SMALL = 80
"""Lines of code below which a module is small."""
SHORT = 8
"""Lines of code up to which a private function with a single use is better inlined."""
MEASURES = {
    "imports": "lines of imports",
    "small": f"modules of less than {SMALL} lines",
    "single": f"private functions of at most {SHORT} lines with a single use",
    "participles": "functions named by a participle",
    "openers": "docstrings that begin with a pronoun",
    "any": "`dict[str, Any]` and `**name: Any`",
    "official": "branches on `official` outside files of that name, in scoring",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)
_PRONOUN = re.compile(r"(What|Those|Who|That|The same|Where)\b")
_PARTICIPLE = re.compile(
    r"_*([a-z]+(ed|en|ing)|said|shown|found|given|kept|made|read|drawn|known|left|held|told|seen|"
    r"written|taken|chosen|sent|put)"
)
_WORD = re.compile(
    "anything|children|embed|encoding|exceed|feed|finding|heading|length|listen|listing|mapping|"
    "meaning|missing|need|_?nothing|opening|_?open|packaging|padding|pairing|ping|proceed|put|ranking|"
    "rating|_?read|reading|ring|scoring|screen|seed|setting|sibling|spelling|string|timing|token|"
    "warning|writing"
)
"""Verbs and nouns that look like participles."""


@dataclass(frozen=True)
class Module:
    """A file of the package: its path from the root, its text and its syntax tree."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All nodes of its tree."""
        return [*ast.walk(self.tree)]

    @cached_property
    def code(self) -> frozenset[int]:
        """The numbers of its lines of code."""
        documented = {
            line
            for node in self.nodes
            if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None
            for line in _lines(node.body[0])
        }
        return frozenset(
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if line.strip() and not line.strip().startswith("#") and number not in documented
        )

    def size(self, node: ast.stmt) -> int:
        """The lines of code of a part of it."""
        return len(self.code.intersection(_lines(node)))

    def places(self) -> Iterator[tuple[str, str]]:
        """Each place that a measure counts, as the measure and the place."""
        names = Counter(node.id for node in self.nodes if isinstance(node, ast.Name))
        if len(self.code) < SMALL and not self.path.endswith("__init__.py"):
            yield "small", f"{self.path} {len(self.code)}"
        for node in self.nodes:
            place = f"{self.path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from [("imports", place)] * self.size(node)
            if isinstance(node, _FUNCTIONS):
                if _PARTICIPLE.fullmatch(node.name) and not _WORD.fullmatch(node.name):
                    yield "participles", f"{place} {node.name}"
                if node.args.kwarg and _is_any(node.args.kwarg.annotation):
                    yield "any", f"{place} {node.name}"
            if isinstance(node, _DOCUMENTED[1:]):
                sentence, *_ = (ast.get_docstring(node) or "").splitlines() or [""]
                if _PRONOUN.match(sentence):
                    yield "openers", f"{place} {sentence}"
            if isinstance(node, ast.Subscript) and _is_any_dict(node):
                yield "any", place
            if isinstance(node, ast.If | ast.IfExp) and self._asks_for_profile(node.test):
                yield "official", place
        for node in self.tree.body:
            private = isinstance(node, _FUNCTIONS) and node.name.startswith("_")
            if private and names[node.name] == 1 and self.size(node) <= SHORT:
                yield "single", f"{self.path}:{node.lineno} {node.name}"

    def _asks_for_profile(self, test: ast.expr) -> bool:
        room, *_, file = self.path.split("/")
        return (room == "scoring" and "official" not in file) and any(
            getattr(node, "id", getattr(node, "attr", "")) == "official" for node in ast.walk(test)
        )


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_any(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def _is_any_dict(node: ast.Subscript) -> bool:
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    return name == "dict" and ast.unparse(node) == "dict[str, Any]"


def modules(root: Path = ROOT) -> list[Module]:
    """All modules of the rooms."""
    paths = sorted(path for room in ROOMS for path in (root / room).rglob("*.py"))
    return [Module(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in paths]


def places(files: Sequence[Module]) -> Mapping[str, list[str]]:
    """The places that each measure counts.

    Examples:
        >>> text = '''def _told(rows):
        ...     "What is told."
        ...     return rows
        ... told = _told([])'''
        >>> {name: found for name, found in places([Module("x.py", text)]).items() if found}
        {'small': ['x.py 3'], 'single': ['x.py:1 _told'], 'participles': ['x.py:1 _told'], \
'openers': ['x.py:1 What is told.']}
    """
    found: dict[str, list[str]] = {name: [] for name in MEASURES}
    for file in files:
        for measure, place in file.places():
            found[measure].append(place)
    return found


def room(path: str) -> str:
    """The room of a file.

    Examples:
        >>> room("hlteval/cli/app.py"), room("hlteval/__init__.py"), room("scoring/edl/metric.py")
        ('hlteval/cli', 'hlteval', 'scoring')
    """
    first, *rest = path.split("/")
    return f"{first}/{rest[0]}" if first == "hlteval" and len(rest) > 1 else first


def main(words: Sequence[str] | None = None) -> None:
    """Print the totals, or with `--list` the places that a measure counts."""
    parser = argparse.ArgumentParser(description="Measure the code of all rooms.")
    parser.add_argument("--list", choices=MEASURES, help="print the places of a measure")
    measure: str | None = parser.parse_args(words).list
    files = modules()
    counted = places(files)
    if measure:
        print("\n".join(counted[measure]))
        return
    sizes = [len(file.code) for file in files]
    functions = [
        file.size(node) for file in files for node in file.nodes if isinstance(node, _FUNCTIONS)
    ]
    print(f"{sum(sizes)} lines of code in {len(sizes)} modules (median {median(sizes):.0f})")
    print(f"{len(functions)} functions (median {median(functions):.0f} lines)")
    for name, title in MEASURES.items():
        print(f"{len(counted[name]):6} {name}: {title}")
    rooms: Counter[str] = Counter()
    for file in files:
        rooms[room(file.path)] += len(file.code)
    print("; ".join(f"{name} {lines}" for name, lines in rooms.most_common()))


if __name__ == "__main__":
    main()
