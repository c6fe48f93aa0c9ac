"""The one kind of error that reaches a user, and the exit codes of the program (argparse adds 2 for
wrong arguments)."""

from __future__ import annotations

OK = 0
DATA_ERROR = 4  # a file is missing, damaged, of a higher format, or holds what cannot be used
IO_ERROR = 5  # the machine refused: disk full, read-only folder
GATE_NO_GO = 10  # only with --gate
GATE_UNDECIDED = 11  # only with --gate undecided
INVALID = 12
INTERRUPTED = 130


class AnalysisError(Exception):
    """A problem with the data that a person can mend.

    Takes where it is (file, and line where known), what is wrong, what to do about it, and the exit
    code. Prints as one line.
    """

    def __init__(self, where: str, what: str, advice: str, code: int = DATA_ERROR) -> None:
        self.where = where
        self.what = what
        self.advice = advice
        self.code = code
        super().__init__(f"{where}: {what}; {advice}")
