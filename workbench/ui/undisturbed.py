"""Acts that a newer click cannot cut short.

Streamlit looks for newer clicks at each use of ``st.session_state``, also within a callback, and drops the rest of the
callback when it finds one: a key pressed or a button clicked while another is worked off would be lost.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

P = ParamSpec("P")
R = TypeVar("R")
_HOOK = "_yield_callback"  # of Streamlit 1.67; where it is gone, acts can be cut short again and nothing worse


def undisturbed(act: Callable[P, R]) -> Callable[P, R]:
    """Let a callback run to its end; newer clicks are taken up right after it."""

    @wraps(act)
    def whole(*args: P.args, **kwargs: P.kwargs) -> R:
        context = get_script_run_ctx(suppress_warning=True)
        session = context.session_state if context else None
        look = getattr(session, _HOOK, None)
        if look is None:
            return act(*args, **kwargs)
        object.__setattr__(session, _HOOK, _look_later)
        try:
            return act(*args, **kwargs)
        finally:
            object.__setattr__(session, _HOOK, look)

    return whole


def _look_later() -> None:
    return None
