"""Errors that are the user's to mend: shown as their message alone, without a traceback."""


class UserError(Exception):
    """Something the user can put right; the message says what and how."""
