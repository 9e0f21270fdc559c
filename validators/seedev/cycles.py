"""Cycles among frames that are arguments of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Edge = tuple[int, int]


def loops(edges: Iterable[Edge]) -> Iterator[tuple[Edge, list[int]]]:
    """One cycle of each strongly connected set of frames.

    Args:
        edges: pairs of a frame and a frame that fills one of its roles.

    Yields:
        The edge that closes the cycle, and the frames along it, the first one repeated at its end.

    Examples:
        >>> list(loops([(1, 2), (2, 3), (3, 1), (4, 1)]))
        [((3, 1), [1, 2, 3, 1])]
    """
    targets: dict[int, list[int]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    done: set[int] = set()
    for start in sorted(targets):
        if start not in done:
            yield from _from(start, targets, done)


def _from(
    start: int, targets: dict[int, list[int]], done: set[int]
) -> Iterator[tuple[Edge, list[int]]]:
    """Walk depth first, without recursion: a chain of frames may be as long as a file."""
    path, on_path = [start], {start}
    pending = [iter(targets.get(start, ()))]
    while pending:
        following = next(pending[-1], None)
        if following is None:
            pending.pop()
            last = path.pop()
            on_path.discard(last)
            done.add(last)
        elif following in on_path:
            yield (path[-1], following), [*path[path.index(following) :], following]
        elif following not in done:
            path.append(following)
            on_path.add(following)
            pending.append(iter(targets.get(following, ())))
