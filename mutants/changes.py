"""The mutants of a module: operators, comparisons, constants and extremes that are exchanged."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

EXCHANGED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
PAIRS = (
    *("min max", "any all", "first last", "floor ceil", "head tail", "cum_min cum_max"),
    *("any_horizontal all_horizontal", "min_horizontal max_horizontal", "argmin argmax"),
)
NAMES = {a: b for pair in PAIRS for a, b in (pair.split(), pair.split()[::-1])}
GUARDS = {"strict", "maintain_order"}
"""Arguments without a value of their own: they guard against bugs, or fix an order."""
SKIPPED = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    Attributes:
        path: of the module.
        source: its text.
        place: the number of the change in the module.
        lines: of the statement that is changed, from the first to the last.
        function: the qualified name of the function that is changed, outermost of all; empty
            outside of functions.
        change: what becomes of what, with the line.
    """

    path: Path
    source: str
    place: int
    lines: range
    function: str
    change: str

    def code(self) -> ast.Module:
        """The module with the change."""
        tree = ast.parse(self.source)
        for place, (node, _, changed) in enumerate(_changes(tree)):
            if place == self.place:
                node.__class__ = changed.__class__  # the parent need not be known
                node.__dict__.update(changed.__dict__)
                return tree
        raise IndexError(self.place)


def mutants(path: Path) -> Iterator[Mutant]:
    r"""All mutants of a module.

    Examples:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "a.py")
        >>> _ = file.write_text("def f(x: int | None):\n    return x + 1 < 2")
        >>> [mutant.change for mutant in mutants(file)]
        ['2: x + 1 < 2 -> x + 1 <= 2', '2: x + 1 -> x - 1', '2: 1 -> 2', '2: 2 -> 3']
    """
    source = path.read_text("utf-8")
    for place, (node, (statement, function), changed) in enumerate(_changes(ast.parse(source))):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body:
            last = max(first, body[0].lineno - 1)
        change = f"{node.lineno}: {ast.unparse(node)} -> {ast.unparse(changed)}"
        yield Mutant(path, source, place, range(first, last + 1), function, change)


Place = tuple[ast.stmt, str]


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr, Place, ast.expr]]:
    """The expressions that are changed, their statements, and what becomes of them."""
    for node, place in _expressions(tree, None, "", ""):
        for changed in _changed(node):
            yield node, place, changed


def _expressions(
    node: ast.AST, statement: ast.stmt | None, home: str, function: str
) -> Iterator[tuple[ast.expr, Place]]:
    """The expressions whose value counts: no types, docstrings, decorators or messages."""
    if isinstance(node, ast.expr) and statement is not None:
        yield node, (statement, function)
    if isinstance(node, ast.ClassDef) and not function:
        home = f"{home}{node.name}."
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases"}:
            continue
        within = function
        if isinstance(node, ast.FunctionDef) and name == "body":  # defaults are outside
            within = function or f"{home}{node.name}"
        for child in value if isinstance(value, list) else [value]:
            guard = isinstance(child, ast.keyword) and child.arg in GUARDS
            if isinstance(child, ast.AST) and not guard and not isinstance(child, SKIPPED):
                own = child if isinstance(child, ast.stmt) else statement
                yield from _expressions(child, own, home, within)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.deepcopy(node)
    match changed:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in EXCHANGED:
            changed.op = EXCHANGED[type(op)]()  # type: ignore[assignment]
        case ast.Compare(ops=[op]) if type(op) in EXCHANGED:
            changed.ops = [EXCHANGED[type(op)]()]  # type: ignore[list-item]
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            changed = operand
        case ast.Constant(value=bool(value)):
            changed.value = not value
        case ast.Constant(value=int(value) | float(value)):
            changed.value = value + 1
        case ast.Attribute(attr=name) if name in NAMES:
            changed.attr = NAMES[name]
        case ast.Name(id=name) if name in NAMES:
            changed.id = NAMES[name]
        case _:
            return
    yield changed
