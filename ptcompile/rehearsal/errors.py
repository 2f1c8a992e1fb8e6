"""What keeps a rehearsal from being played."""


class RehearsalError(Exception):
    """This job, or this machine, cannot rehearse; the text says what is missing."""
