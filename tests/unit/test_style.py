"""House style beyond the linters, as CONTRIBUTING.md describes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trees import nodes, tree_of

ROOT = Path(__file__).parents[2]
ROOMS = ("converters", "grammars", "hlteval", "scoring", "validators")
MOST_LINES = 500
LONGEST_FUNCTION = 60
VAGUE = {"util", "utils", "common", "helper", "helpers", "misc", "tools"}
LOUD = {"exit", "quit", "print", "breakpoint", "SystemExit", "sys.exit", "os._exit", "os.abort"}
LOUD_WORDS = {name.rpartition(".")[2] for name in LOUD}
CHANGES = re.compile(
    "add|append|clear|discard|extend|insert|pop|popitem|remove|reverse|setdefault|sort|update"
)
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = {"list", "dict", "set", "defaultdict", "Counter", "OrderedDict", "deque", "bytearray"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources() -> list[Path]:
    """Every module of the package."""
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


TREES = {path.relative_to(ROOT).as_posix(): tree_of(path) for path in sources()}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, tree in TREES.items():
        for node in nodes(tree):
            if isinstance(node, FUNCTIONS):
                yield f"{name}:{node.lineno} {node.name}", node


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function, its docstring included."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_lines_end_alike_on_every_system() -> None:
    """Windows writes a carriage return before each line feed, unless `newline` is given."""
    bare = [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        for node in nodes(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "write_text"
        and "newline" not in {keyword.arg for keyword in node.keywords}
    ]
    assert not bare


def test_there_is_something_to_hold():
    assert len(TREES) > 50
    assert len(list(functions())) > 300


def code_lines(name: str) -> int:
    """The number of lines with code: no docstrings, comments and empty lines."""
    documented = {
        line
        for node in nodes(TREES[name])
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    written = (ROOT / name).read_text("utf-8").splitlines()
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documented
        for number, line in enumerate(written, 1)
    )


def test_files_are_short():
    long = {name: count for name in TREES if (count := code_lines(name)) > MOST_LINES}
    assert not long


def test_functions_are_short():
    assert not {name: lines(node) for name, node in functions() if lines(node) > LONGEST_FUNCTION}


def test_no_room_for_what_has_no_place():
    parts = {part for name in TREES for part in Path(name).with_suffix("").parts}
    assert not parts & VAGUE


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods that others may call."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (inner for inner in node.body if isinstance(inner, FUNCTIONS))


def test_public_functions_are_documented_and_annotated():
    faults = [
        f"{name}:{node.lineno} {node.name}: {fault}"
        for name, tree in TREES.items()
        for node in public(tree)
        if not node.name.startswith("_") and not is_overload(node)
        for fault in unfinished(node)
    ]
    assert not faults


def is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function only gives types; the one that follows is documented."""
    return any(ast.unparse(item).endswith("overload") for item in node.decorator_list)


def unfinished(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """What a function lacks of its docstring and annotations."""
    if not ast.get_docstring(node):
        yield "no docstring"
    if node.returns is None:
        yield "no type of what it returns"
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += [item for item in (node.args.vararg, node.args.kwarg) if item]
    for argument in arguments:
        if argument.annotation is None and argument.arg not in {"self", "cls"}:
            yield f"no type of {argument.arg}"


def test_modules_are_documented():
    assert not [name for name, tree in TREES.items() if not ast.get_docstring(tree)]


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that a module gives to values at its top."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield ast.unparse(target), node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value


def is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in MAKERS
    return isinstance(value, MUTABLE)


CONSTANTS = {
    name for tree in TREES.values() for name, value in assigned(tree) if is_mutable(value)
} - {"__all__"}


def changed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names whose values a module changes in place, with the line where it does."""
    for node in nodes(tree):
        if isinstance(node, ast.Global):
            yield from ((node.lineno, name) for name in node.names)
        elif isinstance(node, ast.Assign | ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    yield node.lineno, last_name(target.value)
        elif isinstance(node, ast.AugAssign):
            target = node.target
            yield node.lineno, last_name(getattr(target, "value", target))
        elif isinstance(node, ast.Attribute) and CHANGES.fullmatch(node.attr):
            yield node.lineno, last_name(node.value)


def last_name(value: ast.expr) -> str:
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ast.unparse(value).rpartition(".")[2]


def test_what_stands_at_the_top_of_a_module_is_a_constant():
    assert CONSTANTS
    assert not {name for name in CONSTANTS if not re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name)}


def test_constants_are_never_changed():
    assert not [
        f"{name}:{line} changes {what}"
        for name, tree in TREES.items()
        for line, what in changed(tree)
        if what in CONSTANTS
    ]


def test_no_function_gives_a_name_of_its_module_another_value():
    assert not [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        for node in nodes(tree)
        if isinstance(node, ast.Global)
    ]


def test_only_the_command_line_prints_and_exits():
    assert not [
        f"{name}:{line} uses {what}"
        for name, tree in TREES.items()
        if not name.startswith("hlteval/cli/")
        for line, what in loud(tree)
    ]


def loud(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What prints, warns, logs or exits, with the line where it stands."""
    for node in nodes(tree):
        named = getattr(node, "id", getattr(node, "attr", ""))
        if named in LOUD_WORDS and ast.unparse(node) in LOUD:
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {getattr(node, "module", ""), *(alias.name for alias in node.names)}
            yield from ((node.lineno, name) for name in names & {"logging", "warnings"})


@pytest.mark.parametrize(
    "written",
    ["def f():\n    raise SystemExit", "sys.exit(1)", "print(1)", "from warnings import warn"],
)
def test_loud_code_is_heard(written):
    assert list(loud(ast.parse(written)))


@pytest.mark.parametrize(
    "written",
    ["X[1] = 2", "X.append(1)", "m.X.update(a=1)", "del X[0]", "X += [1]", "def f():\n  global X"],
)
def test_changes_are_seen(written):
    assert "X" in {what for _, what in changed(ast.parse(written))}
