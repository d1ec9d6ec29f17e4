"""Exceptions and warnings."""

from __future__ import annotations


class AlikeError(Exception):
    """A run has failed. The message is the command's, with row labels in place of lines for rows in memory."""


class UsageError(AlikeError, ValueError):
    """A setting is wrong, or two settings contradict each other."""


class SkippedRecords(UserWarning):
    """Some records cannot be used, because their text is missing, too long, or not a string.

    They are in no result. With ``on_error="fail"`` the first of them is an error.
    """
