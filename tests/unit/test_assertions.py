"""A test can fail: its assertions do not all stand under a condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def collected(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that pytest calls."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in inner:
            if isinstance(item, FUNCTIONS) and item.name.startswith("test"):
                yield item


def asserting(tree: ast.Module) -> set[str]:
    """The names of the module's functions that assert something for tests."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, FUNCTIONS) and any(isinstance(x, ast.Assert) for x in ast.walk(node))
    }


def asserts(node: ast.AST, helpers: set[str]) -> bool:
    """Whether a node is an assertion, by itself or as the call of one of the helpers."""
    if isinstance(node, ast.withitem):
        return "raises" in ast.unparse(node)
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return (called and node.func.id in helpers) or isinstance(node, ast.Assert)


def leaves(node: ast.stmt, helpers: set[str]) -> bool:
    """Whether a condition can end the test before anything is asserted."""
    if not isinstance(node, ast.If):
        return False
    inner = list(ast.walk(node))
    ends = any(isinstance(part, ast.Return) for part in inner)
    return ends and not any(asserts(part, helpers) for part in inner)


def conditions(node: ast.AST, helpers: set[str], *, under: bool = False) -> Iterator[bool]:
    """Of each assertion inside a node, whether it is under a condition.

    A condition of which both branches assert is itself an unconditional assertion. What
    follows a condition that returns is under it, and so is what an exception is asked for.
    """
    if asserts(node, helpers):
        yield under
    if isinstance(node, ast.If):
        branches = [
            [found for item in body for found in conditions(item, helpers)]
            for body in (node.body, node.orelse)
        ]
        always = all(False in branch for branch in branches)
        yield from (under or not always for branch in branches for _ in branch)
        return
    under = under or isinstance(node, ast.Match | ast.ExceptHandler)
    for child in ast.iter_child_nodes(node):
        yield from conditions(child, helpers, under=under)
        under = under or (isinstance(child, ast.stmt) and leaves(child, helpers))


def only_conditional(tree: ast.Module) -> list[str]:
    """The tests of a module that assert, but never without a condition."""
    helpers = asserting(tree)
    return [
        f"{node.lineno} {node.name}"
        for node in collected(tree)
        for found in [list(conditions(node, helpers - {node.name}))]
        if found and all(found)
    ]


def test_no_assertion_of_a_test_is_only_under_a_condition():
    faults = [
        f"{path.relative_to(TESTS)}:{fault}"
        for path in sorted(TESTS.rglob("*.py"))
        for fault in only_conditional(ast.parse(path.read_text("utf-8")))
    ]
    assert not faults


@pytest.mark.parametrize(
    ("body", "faulty"),
    [
        ("if x:\n  assert y", True),
        ("for x in y:\n  if x:\n   assert x", True),
        ("if x:\n  with pytest.raises(E):\n   f()", True),
        ("if x:\n  assert y\n else:\n  z()", True),
        ("def hold():\n  if x:\n   assert y\n hold()", True),
        ("match x:\n  case 1:\n   assert y", True),
        ("if x:\n  return\n assert y", True),
        ("def f():\n  if x:\n   return\n  assert y\n f()", True),
        ("try:\n  f()\n except E:\n  assert y", True),
        ("if x:\n  assert y\n  return\n assert z", False),
        ("def f():\n  if x:\n   return\n assert y", False),
        ("try:\n  f()\n except E:\n  assert y\n else:\n  assert z", False),
        ("if x:\n  assert y\n else:\n  assert z", False),
        ("if x:\n  assert y\n elif z:\n  assert z\n else:\n  assert a", False),
        ("if x:\n  assert y\n assert z", False),
        ("for x in y:\n  assert x", False),
        ("with pytest.raises(E):\n  f()", False),
        ("f()", False),
    ],
)
def test_assertions_under_conditions_are_seen(body: str, faulty: bool) -> None:
    assert bool(only_conditional(ast.parse(f"def test_it():\n {body}"))) == faulty
