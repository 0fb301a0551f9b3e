"""Errors whose message is fit to be shown to a radiologist as it stands.

Every message is one sentence (or two): what is wrong, where (file, row, finding), and what to do.
Anything else that is raised is a fault of the program.
"""


class WorkbenchError(Exception):
    """A refusal or a user's mistake; its text is shown as it is, never with a traceback."""


class InputError(WorkbenchError):
    """A file, row or value that somebody gave cannot be taken as it is."""


class RightsError(WorkbenchError):
    """The acting person may not do or see this."""


class ConflictError(WorkbenchError):
    """The request contradicts something already recorded, which stays as it is."""


class NotFoundError(WorkbenchError):
    """Something was named that the study does not hold."""
