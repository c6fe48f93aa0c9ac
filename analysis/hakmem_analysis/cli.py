"""Command line: `python3 -m hakmem_analysis COMMAND …`, called by `hak`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Sequence

from . import errors


def _report(args: argparse.Namespace) -> int:
    """hak report: analyses a folder or raw data; heavy imports happen here, not for `watch`."""
    from .rawdata import load_raw
    from .report.render import report_of_raw, report_of_run
    from .verdict import headline

    if (args.folder is None) == (args.data is None):
        raise _usage("report takes a result folder or --data FILE")
    if args.data is not None:
        arms = (args.arms[0], args.arms[1]) if args.arms else None
        made = report_of_raw(load_raw(args.data, arms, args.metric), args.out is not None)
        if args.out is not None:
            made.write(args.out)
        sys.stdout.write(made.text)
    else:
        made = report_of_run(args.folder)
        target = args.out or args.folder
        made.write(target)
        print(headline(made.verdict))
        print(f"report: {target / 'report.md'}")
    return made.verdict.gate_code() if args.gate else made.verdict.exit_code


class _UsageError(Exception):
    """Arguments that argparse cannot tell to be wrong."""


def _usage(text: str) -> _UsageError:
    return _UsageError(text)


def _watch(_: argparse.Namespace) -> int:
    from .watch import serve

    serve(sys.stdin, sys.stdout)
    return errors.OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hakmem_analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="verdict.json, report.md and plots of a folder")
    report.add_argument("folder", nargs="?", type=Path, help="results/PHASE/RUN")
    report.add_argument("--data", type=Path, help="raw data or google-benchmark JSON instead")
    report.add_argument("--out", type=Path, help="write here instead of into the folder")
    report.add_argument("--arms", nargs=2, metavar=("BASELINE", "TREATMENT"), help="benchmarks")
    report.add_argument("--metric", help="field of google-benchmark JSON (default: real_time)")
    report.add_argument("--gate", action="store_true", help="exit 10 for NO-GO, 11 for UNDECIDED")
    report.set_defaults(run=_report)
    watch = commands.add_parser("watch", help="running estimates: `estimate DIR` lines on stdin")
    watch.set_defaults(run=_watch)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code (errors.py lists them). Errors are one line on
    stderr."""
    parser = _parser()
    args = parser.parse_args(arguments)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except errors.AnalysisError as error:
        print(f"hak: {error}", file=sys.stderr)
        return errors.DATA_ERROR
    except _UsageError as error:
        parser.error(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.DATA_ERROR
    except KeyboardInterrupt:
        return errors.INTERRUPTED
