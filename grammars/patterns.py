"""Regular expressions compiled from the grammars' own rules, for the bulk path.

The grammar is the authority on what a format allows; a pattern made here accepts the same lines,
a hundred times faster. There is one source of truth: whoever changes the grammar has changed the
pattern. A rule qualifies if it is not recursive (repetition is no recursion) and its terminals
use only what the engines of Python, Rust and Lark read alike.
"""

from __future__ import annotations

import re
from functools import cache

from lark import Lark
from lark.grammar import NonTerminal, Symbol, Terminal

# Lookaround, backreferences, non-greedy and possessive repetition, and the classes whose meaning
# differs between engines (\d is all of Unicode in some).
_UNSAFE = re.compile(r"\(\?[=!<]|\\[1-9dwsDWSbB]|[*+?}][?+]")


class NotRegular(ValueError):
    """A rule that no regular expression can stand for, with the reason."""


@cache
def compiled(grammar: Lark, rule: str) -> str:
    """The pattern of a rule: unanchored, with a named group for each part that the tree would keep.

    Terminals and rules that stand in the rule itself become groups of that name in lower case;
    rules whose name begins with ``_`` are looked through; inside repetitions there are no groups.

    Raises:
        NotRegular: if the rule is recursive, ignores terminals, or holds an unsafe terminal.
    """
    if grammar.ignore_tokens:
        raise NotRegular("a grammar with %ignore reads more than its rules say")
    return _Compiler(grammar).rule(rule, groups=True, above=())


def every(grammar: Lark) -> dict[str, str]:
    """The patterns of all rules of a grammar that are regular, by rule."""
    found = {}
    for rule in dict.fromkeys(rule.origin.name for rule in grammar.rules):
        try:
            found[str(rule)] = compiled(grammar, str(rule))
        except NotRegular:
            continue
    return dict(sorted(found.items()))


_Tree = dict[Symbol, "_Tree"]
"""What may follow what, by symbol; the key `_END` where it may end."""

_END = Terminal("")


class _Compiler:
    """The rules and terminals of one grammar, on the way to a pattern."""

    def __init__(self, grammar: Lark) -> None:
        self.terminals = {
            terminal.name: terminal.pattern.to_regexp() for terminal in grammar.terminals
        }
        self.rules: dict[str, list[list[Symbol]]] = {}
        for rule in grammar.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))

    def rule(self, name: str, *, groups: bool, above: tuple[str, ...]) -> str:
        """All alternatives of a rule as one pattern.

        Alternatives that begin alike share their beginning: then the engines never have to try one
        after the other, which makes them several times faster.
        """
        if name in above:
            raise NotRegular(f"rule {name} is recursive")
        alternatives = self.rules[name]
        repeated = [
            rest for first, *rest in filter(None, alternatives) if first == NonTerminal(name)
        ]
        if repeated:  # what Lark makes of x+ and x*: a rule of its own that begins with itself
            body = self.tree(_merged(repeated), groups=False, above=(*above, name))
            return f"(?:{body})+"
        return self.tree(_merged(alternatives), groups=groups, above=(*above, name))

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
        """One symbol, in a group of its name where the parse tree would keep it."""
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


def _merged(alternatives: list[list[Symbol]]) -> _Tree:
    tree: _Tree = {}
    for alternative in alternatives:
        branch = tree
        for symbol in alternative:
            branch = branch.setdefault(symbol, {})
        branch[_END] = {}
    return tree
