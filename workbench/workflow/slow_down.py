"""Wrong passwords and codes are slowed, for each account and each address, and nobody is ever locked out.

A try is counted before it is checked, so that many at once cannot slip past; what turned out right is taken back.
A try that comes too soon is refused unchecked and not counted: whoever waits gets their turn.
"""

import hashlib
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import floor

from workbench.domain.people import name_key
from workbench.errors import RightsError
from workbench.storage import sign_ins

LONGEST_WAIT = 120  # seconds
FORGOTTEN_AFTER = timedelta(hours=1)
_CLOCK_SET_BACK = timedelta(minutes=5)  # a failure so far ahead tells of the clock, and must not shut anybody out
_FREE_FOR_ACCOUNT, _FREE_FOR_ADDRESS = 3, 30  # a whole hospital may stand behind one address


@dataclass(frozen=True, slots=True)
class Try:
    """One try to sign in, under a name from an address. Neither is kept as it was typed: only its hash."""

    name: str
    address: str

    @property
    def account_key(self) -> str:
        """Return the key under which failures of the name are counted, whether such a person exists or not."""
        return "name:" + hashlib.sha256(name_key(self.name).encode()).hexdigest()

    @property
    def address_key(self) -> str:
        """Return the key under which failures from the address are counted."""
        return "address:" + hashlib.sha256(self.address.encode()).hexdigest()


def wait_after(failures: int, free: int) -> int:
    """Return how many seconds pass before the next try: none while ``failures`` < ``free``, then 1, 2, 4 up to 120."""
    return 0 if failures < free else min(2 ** min(failures - free, 10), LONGEST_WAIT)


def count(conn: sqlite3.Connection, tried: Try, now: datetime) -> None:
    """Count a try as failed, before it is checked.

    Raises:
        RightsError: it comes too soon after failed ones; says how long to wait.
    """
    sign_ins.forget_failures(conn, before=now - FORGOTTEN_AFTER)
    known = sign_ins.failures(conn, [tried.account_key, tried.address_key])
    seconds = max(
        _left(*known.get(tried.account_key, (0, now)), _FREE_FOR_ACCOUNT, now),
        _left(*known.get(tried.address_key, (0, now)), _FREE_FOR_ADDRESS, now),
    )
    if seconds > 0:
        unit = "second" if seconds == 1 else "seconds"
        raise RightsError(f"After several wrong tries there is a pause: wait {seconds} {unit}, then try again.")
    sign_ins.count_failure(conn, [tried.account_key, tried.address_key], now)


def _left(failures: int, last: datetime, free: int, now: datetime) -> int:
    """Return how many seconds of the pause are left."""
    if last - now > _CLOCK_SET_BACK:
        return 0
    return max(0, wait_after(failures, free) - max(0, floor((now - last).total_seconds())))


def forgive(conn: sqlite3.Connection, tried: Try) -> None:
    """Take back what ``count`` counted: the try was right, which also ends the account's failures."""
    sign_ins.forget_failures(conn, key=tried.account_key)
    sign_ins.take_back_failure(conn, tried.address_key)
