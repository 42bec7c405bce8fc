"""Exceptions of Espalier. Their message is one line that names place and reason."""


class Error(Exception):
    """Base class of all errors. `status` is the exit status of the command line for this error."""

    status = 1


class InputError(Error, ValueError):
    """Invalid input: a file, a name, or a combination of arguments."""

    status = 2


class NoSolution(Error):
    """The problem has no solution: a host that cannot be reached, a budget below the cheapest plan."""

    status = 3


class LimitReached(Error):
    """A time limit passed before there was any result, or no progress was made for a timeout."""

    status = 4


class CheckFailed(Error):
    """A check of a result failed: a plan with wrong figures."""

    status = 5
