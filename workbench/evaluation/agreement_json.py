"""Reading back the JSON forms of this room's agreement results."""

from collections.abc import Mapping

from workbench.evaluation.numbers import Figure


def mapping(value: object) -> Mapping[str, object]:
    """Return an object of the JSON form. Raises TypeError for anything else."""
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {value!r}")
    return value


def rows(value: object) -> tuple[Mapping[str, object], ...]:
    """Return a list of objects. Raises TypeError for anything else."""
    return tuple(mapping(item) for item in items(value))


def items(value: object) -> tuple[object, ...]:
    """Return the items of a list. Raises TypeError for anything else."""
    if not isinstance(value, list | tuple):
        raise TypeError(f"a list was expected, not {value!r}")
    return tuple(value)


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts."""
    return tuple(str(item) for item in items(value))


def whole(value: object) -> int:
    """Return a whole number. Raises TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a whole number was expected, not {value!r}")
    return value


def figure(value: object) -> Figure:
    """Return a figure."""
    return Figure.from_json(mapping(value))
