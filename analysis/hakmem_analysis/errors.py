"""The one kind of error that reaches a user, and the exit codes of the program."""

from __future__ import annotations

OK = 0
DATA_ERROR = 1  # a file is missing, damaged, of a higher format, or cannot be written
USAGE_ERROR = 2
GATE_NO_GO = 10  # only with --gate
GATE_UNDECIDED = 11  # only with --gate
INVALID = 12
INTERRUPTED = 130


class AnalysisError(Exception):
    """A problem with the data that a person can mend.

    Takes where it is (file, and line where known), what is wrong, and what to do about it. Prints
    as one line.
    """

    def __init__(self, where: str, what: str, advice: str) -> None:
        self.where = where
        self.what = what
        self.advice = advice
        super().__init__(f"{where}: {what}; {advice}")
