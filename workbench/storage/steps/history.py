"""What a step is, and the triggers that keep its history tables as they are."""

Step = tuple[str, tuple[str, ...]]  # its name, which begins with its number, and its statements


def fixed(*tables: str) -> tuple[str, ...]:
    """Return triggers under which rows of the tables are never changed and never go."""
    return tuple(
        f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is history: rows are added, never changed or removed'); END"
        for table in tables
        for action in ("UPDATE", "DELETE")
    )
