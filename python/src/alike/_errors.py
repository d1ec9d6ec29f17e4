"""What can go wrong, as exceptions and warnings."""

from __future__ import annotations


class AlikeError(Exception):
    """A run has failed. The message is the command's, with row labels for rows in memory."""


class UsageError(AlikeError, ValueError):
    """A setting is wrong, or settings do not go together."""


class SkippedRecords(UserWarning):
    """Some records could not be used: their texts are missing, too long, or no strings.

    They are in no result. ``on_error="fail"`` makes the first of them an error.
    """
