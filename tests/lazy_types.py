"""A plugin of mypy: a call of `lazy` has the type of what it names.

Declarations of tasks are checked by it as if they imported what they name: a function or a class
has its own signature, a value that of a function which returns it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from mypy.nodes import ArgKind, FuncDef, MypyFile, StrExpr, TypeInfo, Var
from mypy.plugin import FunctionContext, Plugin
from mypy.typeops import type_object_type
from mypy.types import CallableType, Type

_LAZY = "hlteval.extensions.lazy"
_CALL = re.compile(r'\blazy\("([\w.]+)')
_EARLY = 10
"""The priority of an ordinary import."""


class LazyTypes(Plugin):
    """Gives `lazy` its types."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """What finds the type of a call of `lazy`."""
        return _named if fullname == _LAZY else None

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """The modules that a file names, which are to be checked before it."""
        path = Path(file.path)
        if file.is_stub or not path.is_file():  # a namespace is a folder
            return []
        found = _CALL.findall(path.read_text("utf-8"))
        return [(_EARLY, module, -1) for module in sorted(set(found))]


def _named(context: FunctionContext) -> Type:
    """The type of what a call names."""
    named = context.args[0][0]
    if not isinstance(named, StrExpr):
        return context.default_return_type
    module, _, attribute = named.value.partition(":")
    file = context.api.modules.get(module)  # type: ignore[attr-defined]
    symbol = file.names.get(attribute) if file else None
    node = symbol.node if symbol else None
    if isinstance(node, FuncDef) and node.type:
        return node.type
    if isinstance(node, TypeInfo):
        return type_object_type(node)
    if isinstance(node, Var) and node.type:
        function = context.api.named_generic_type("builtins.function", [])
        return CallableType([], list[ArgKind](), [], node.type, function)
    context.api.fail(f"{named.value} names nothing with a type", context.context)
    return context.default_return_type


def plugin(_: str) -> type[LazyTypes]:
    """The entry point that mypy looks for."""
    return LazyTypes
