"""Regular expressions compiled from the rules of a grammar, for reading in bulk.

Those of all regular rules are in `grammars/patterns.json`, which
`tests/unit/grammars/test_patterns.py` makes with `--update-golden`.

A grammar defines a format; a pattern compiled from it accepts the same lines a hundred times
faster. A rule can be compiled if it is not recursive (repetition is allowed) and its terminals only
use syntax that the engines of Python, Rust and Lark interpret alike.
"""

from __future__ import annotations

import re
from functools import cache

from lark import Lark
from lark.grammar import NonTerminal, Symbol, Terminal

# Lookaround, backreferences, non-greedy and possessive repetition, and classes that engines
# interpret differently (in some, \d matches all digits of Unicode).
_UNSAFE = re.compile(r"\(\?[=!<]|\\[1-9dwsDWSbB]|[*+?}][?+]")


class NotRegular(ValueError):
    """A rule that cannot be compiled to a regular expression, with the reason."""


@cache
def compile_rule(grammar: Lark, rule: str) -> str:
    """The pattern of a rule, unanchored, with a named group for each child in the parse tree.

    Terminals and rules in the rule become groups named by them in lower case. Rules whose name
    starts with ``_`` are replaced by their expansion. There are no groups inside repetitions.

    Raises:
        NotRegular: if the rule is recursive or contains an unsafe terminal, or the grammar ignores
            terminals.
    """
    if grammar.ignore_tokens:
        raise NotRegular("a grammar with %ignore reads more than its rules say")
    return _Compiler(grammar).rule(rule, groups=True, above=())


#: The symbols that can follow, each with its own continuation; `_END` where a rule can end.
_Tree = dict[Symbol, "_Tree"]

_END = Terminal("")


class _Compiler:
    """A compiler of the rules of one grammar."""

    def __init__(self, grammar: Lark) -> None:
        self.terminals = {
            terminal.name: terminal.pattern.to_regexp() for terminal in grammar.terminals
        }
        self.rules: dict[str, list[list[Symbol]]] = {}
        for rule in grammar.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))

    def rule(self, name: str, *, groups: bool, above: tuple[str, ...]) -> str:
        """The alternatives of a rule as one pattern.

        Alternatives with a common prefix share it, so that engines do not backtrack, which makes
        them several times faster.
        """
        if name in above:
            raise NotRegular(f"rule {name} is recursive")
        alternatives = self.rules[name]
        repeated = [
            rest for first, *rest in filter(None, alternatives) if first == NonTerminal(name)
        ]
        if repeated:  # Lark turns x+ and x* into a rule that starts with itself
            body = self.tree(_prefix_tree(repeated), groups=False, above=(*above, name))
            return f"(?:{body})+"
        return self.tree(_prefix_tree(alternatives), groups=groups, above=(*above, name))

    def tree(self, tree: _Tree, *, groups: bool, above: tuple[str, ...]) -> str:
        branches = [
            self.symbol(symbol, groups=groups, above=above)
            + self.tree(rest, groups=groups, above=above)
            for symbol, rest in tree.items()
            if symbol is not _END
        ]
        if not branches:
            return ""
        if len(branches) == 1 and _END not in tree:
            return branches[0]
        return f"(?:{'|'.join(branches)}){'?' if _END in tree else ''}"

    def symbol(self, symbol: Symbol, *, groups: bool, above: tuple[str, ...]) -> str:
        """One symbol, in a named group if the parse tree keeps it."""
        hidden = symbol.name.startswith("_") or getattr(symbol, "filter_out", False)
        if symbol.is_term:
            body = self.terminal(symbol.name)
        else:
            body = self.rule(symbol.name, groups=groups and hidden, above=above)
        return f"(?P<{symbol.name.lower()}>{body})" if groups and not hidden else body

    def terminal(self, name: str) -> str:
        pattern = self.terminals[name]
        if _UNSAFE.search(pattern):
            raise NotRegular(f"terminal {name} uses what the engines read differently: {pattern}")
        return f"(?:{pattern})"


def _prefix_tree(alternatives: list[list[Symbol]]) -> _Tree:
    tree: _Tree = {}
    for alternative in alternatives:
        branch = tree
        for symbol in alternative:
            branch = branch.setdefault(symbol, {})
        branch[_END] = {}
    return tree
