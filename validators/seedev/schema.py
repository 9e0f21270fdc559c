"""The schema of an event task: its types, and the roles and fillers of each type of event."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hlteval.grammars import vocabulary

ANY = "ANY"


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event.

    Attributes:
        label: its name.
        mandatory: the roles that every event has.
        one_of: roles of which every event has exactly one.
        roles: all allowed roles, with the types that may fill them; None if any type may.
        commutative: whether its two arguments can be swapped.
    """

    label: str
    mandatory: tuple[str, ...]
    one_of: tuple[str, ...]
    roles: Mapping[str, frozenset[str] | None]
    commutative: bool = False


@dataclass(frozen=True)
class EventSchema:
    """The types, roles and modifiers of an event task.

    Attributes:
        task: its name.
        mentions: the types of text spans.
        events: the types of events by name.
        modifiers: most modifiers of an event, by their type.
        conditions: the optional roles, in order.
        optional: the optional roles of either task.
        elsewhere: the type of this task for each type of the other task (null: there is none).
        other_events: the types of events of the other task.
        other: the other task.
    """

    task: str
    mentions: frozenset[str]
    events: Mapping[str, EventType]
    modifiers: Mapping[str, int]
    conditions: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    elsewhere: Mapping[str, str | None] = field(default_factory=dict)
    other_events: frozenset[str] = frozenset()
    other: str = ""

    @property
    def labels(self) -> frozenset[str]:
        """Every type of the task."""
        return self.mentions | self.events.keys() | self.modifiers.keys()


def schema(task: str) -> EventSchema:
    """The event schema of `full` or `binary`, from grammars/seedev.toml.

    Examples:
        >>> schema("binary").events["Binds_To"].mandatory
        ('Functional_Molecule', 'Molecule')
    """
    data = vocabulary("seedev")
    other = "binary" if task == "full" else "full"
    conditions = data["conditions"] if task == "full" else {}
    return EventSchema(
        task=f"seedev-{task}",
        mentions=frozenset(data["entities"]),
        events={
            entry[task]: _event(entry, task, conditions, data["groups"])
            for entry in data["events"]
            if task in entry
        },
        modifiers=data["modifiers"][task],
        conditions=tuple(conditions),
        optional=tuple(data["conditions"]),
        elsewhere={entry[other]: entry.get(task) for entry in data["events"] if other in entry}
        | dict.fromkeys(data["modifiers"][other].keys() - data["modifiers"][task].keys()),
        other_events=frozenset(entry[other] for entry in data["events"] if other in entry),
        other=f"seedev-{other}",
    )


def _event(
    entry: Mapping[str, Mapping[str, str]],
    task: str,
    conditions: Mapping[str, str],
    groups: Mapping[str, Iterable[str]],
) -> EventType:
    one_of = entry.get("one_of", {})
    optional = conditions if entry.get("conditions", True) else {}
    roles = {**entry["roles"], **one_of, **optional}
    return EventType(
        label=str(entry[task]),
        mandatory=tuple(entry["roles"]),
        one_of=tuple(one_of),
        roles={role: _types(name, groups) for role, name in roles.items()},
        commutative=bool(entry.get("commutative", False)),
    )


def _types(name: str, groups: Mapping[str, Iterable[str]]) -> frozenset[str] | None:
    """The types of a group, through groups of groups; None for any type."""
    if name == ANY:
        return None
    if name not in groups:
        return frozenset({name})
    return frozenset().union(*(_types(part, groups) or () for part in groups[name]))
