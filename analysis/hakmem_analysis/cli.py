"""Command line: `python3 -m hakmem_analysis COMMAND …`, called by `hak`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Sequence

from . import errors


def _report(args: argparse.Namespace) -> int:
    """hak report: analyses a folder or raw data; heavy imports happen here, not for `watch`."""
    from .load import load_run
    from .machines import require_alike
    from .rawdata import load_raw
    from .report.compare import report_of_sweep
    from .report.render import build_run_report, report_of_raw
    from .verdict import headline, judge_run

    if args.folder is not None and args.folder.is_file() and args.data is None:
        args.folder, args.data = None, args.folder
    if (args.folder is None) == (args.data is None):
        raise _UsageError("report takes a result folder, or a file of raw data")
    if args.data is not None:
        arms = (args.arms[0], args.arms[1]) if args.arms else None
        made = report_of_raw(load_raw(args.data, arms, args.metric), args.out is not None)
        if args.out is not None:
            made.write(args.out)
        sys.stdout.write(made.text)
    else:
        run = load_run(args.folder)
        run.warnings += require_alike([run], args.force)
        target = args.out or args.folder
        if run.plan.report == "compare":
            sweep = report_of_sweep(run)
            sweep.write(target)
            print(f"{sweep.headline}\nreport: {target / 'report.md'}")
            return errors.OK
        made = build_run_report(run, judge_run(run))
        made.write(target)
        print(headline(made.verdict))
        print(f"report: {target / 'report.md'}")
    return made.verdict.gate_code(args.gate)


class _UsageError(Exception):
    """Arguments that argparse cannot tell to be wrong."""


def _watch(_: argparse.Namespace) -> int:
    from .watch import serve

    serve(sys.stdin, sys.stdout)
    return errors.OK


def _history(args: argparse.Namespace) -> int:
    from .files import dump_json
    from .history import history_json, history_text, read_history

    entries, warnings = read_history(args.results)
    chosen = [e for e in entries if e.matches(args.box, args.workload, args.verdict)]
    for warning in warnings:
        print(f"hak: warning: {warning}", file=sys.stderr)
    sys.stdout.write(
        dump_json(history_json(chosen, warnings)) if args.json else history_text(chosen)
    )
    return errors.OK


def _selftest(args: argparse.Namespace) -> int:
    from .files import write_text
    from .selftest import run_selftest

    if args.reps < 100:
        raise _UsageError("--reps takes at least 100")
    text, holds = run_selftest(args.reps, lambda line: print(line, file=sys.stderr))
    if args.out is not None:
        write_text(args.out, text)
    sys.stdout.write(text)
    return errors.OK if holds else errors.INVALID


def _calibrate(args: argparse.Namespace) -> int:
    from .calibrate import calibrate, calibration_summary
    from .files import dump_json, write_text
    from .load import load_run
    from .machines import require_alike

    run = load_run(args.folder)
    require_alike([run], False)
    content = calibrate(run)
    write_text(args.out or args.folder / "calibration.json", dump_json(content))
    if args.keep is not None:
        write_text(args.keep, dump_json(content))
    sys.stdout.write(calibration_summary(content))
    return errors.INVALID if content["verdict"] == "FAIL" else errors.OK


def _calibrate_times(args: argparse.Namespace) -> int:
    from .calibrate_times import times_summary, write_times

    content = write_times(args.folder, args.force)
    sys.stdout.write(times_summary(content))
    print(f"report: {args.folder / 'report.md'}")
    return errors.INVALID if content["verdict"] == "FAIL" else errors.OK


def _promote(args: argparse.Namespace) -> int:
    from .promote import promote
    from .registry import find_box, root_folder

    root = root_folder()
    results = args.results or root / "results"
    box = find_box(args.box)
    said = promote(root, box, args.evidence, args.confirmation, args.layout, results, args.force)
    sys.stdout.write(said)
    return errors.OK


def _retire(args: argparse.Namespace) -> int:
    from datetime import date

    from .registry import find_box, root_folder
    from .retire import retire

    root = root_folder()
    results = args.results or root / "results"
    sys.stdout.write(retire(root, find_box(args.box), results, args.reason or "", date.today()))
    return errors.OK


def _slices_power(args: argparse.Namespace) -> int:
    from .files import write_text
    from .slices_power import measure, table

    if args.times < 1:
        raise _UsageError("--times takes at least 1")
    workload = args.workload or ["random_mixed"]
    outcomes = measure(
        args.percent, args.times, args.seconds, workload, lambda line: print(line, flush=True)
    )
    text = table(args.percent, args.seconds, outcomes)
    if args.out is not None:
        write_text(args.out, text)
    sys.stdout.write("\n" + text)
    return errors.OK


def _export(args: argparse.Namespace) -> int:
    from .export import to_csv, to_gbench
    from .files import dump_json, write_text
    from .load import load_run

    run = load_run(args.folder)
    text = to_csv(run) if args.csv else dump_json(to_gbench(run))
    if args.out is not None:
        write_text(args.out, text)
    else:
        sys.stdout.write(text)
    return errors.OK


def _profile_report(args: argparse.Namespace) -> int:
    from .profile.report import write_profile_report

    sys.stdout.write(write_profile_report(args.folder))
    return errors.OK


def _candidates(args: argparse.Namespace) -> int:
    from .files import dump_json
    from .profile.whats_next import whats_next, whats_next_text

    found = whats_next(args.results)
    for warning in found.warnings:
        print(f"hak: warning: {warning}", file=sys.stderr)
    sys.stdout.write(dump_json(found.to_json()) if args.json else whats_next_text(found))
    return errors.OK


def _trace(args: argparse.Namespace) -> int:
    from .alloc_trace import summarize
    from .report.style import save
    from .report.trace_plots import lifetimes_plot, sizes_plot

    summary = summarize(args.file)
    sys.stdout.write(summary.text())
    if args.out is not None:
        save(sizes_plot(summary), args.out / "sizes.svg")
        save(lifetimes_plot(summary), args.out / "lifetimes.svg")
        print(f"plots: {args.out / 'sizes.svg'}, {args.out / 'lifetimes.svg'}")
    return errors.OK


def _layout(args: argparse.Namespace) -> int:
    from .layout import write_report

    report = write_report(args.folder)
    print(f"{report.effect.effect.word.text}: {report.effect.text()}")
    print(f"report: {args.folder / 'layout.md'}")
    return errors.OK


def _heap(args: argparse.Namespace) -> int:
    from .heap_profile import read_profile, table

    sys.stdout.write(table(read_profile(args.file), args.top))
    return errors.OK


def _family(args: argparse.Namespace) -> int:
    from .report.family import write_family

    print(f"page: {write_family(args.folders, args.title, args.out)}")
    return errors.OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hakmem_analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="verdict.json, report.md and plots of a folder")
    report.add_argument("folder", nargs="?", type=Path, help="results/PHASE/RUN, or a data FILE")
    report.add_argument("--data", type=Path, help="raw data or google-benchmark JSON")
    report.add_argument("--out", type=Path, help="write here instead of into the folder")
    report.add_argument("--arms", nargs=2, metavar=("BASELINE", "TREATMENT"), help="benchmarks")
    report.add_argument("--metric", help="field of google-benchmark JSON (default: real_time)")
    report.add_argument(
        "--gate",
        choices=("no-go", "undecided"),
        help="exit 10 for NO-GO; with undecided also 11 for UNDECIDED",
    )
    report.add_argument("--force", action="store_true", help="pool sessions of unlike machines")
    report.set_defaults(run=_report)
    watch = commands.add_parser("watch", help="running estimates: `estimate DIR` lines on stdin")
    watch.set_defaults(run=_watch)
    _more_commands(commands)
    return parser


def _more_commands(commands: Any) -> None:
    history = commands.add_parser("history", help="all results, and how good forecasts were")
    history.add_argument("results", nargs="?", type=Path, default=Path("results"))
    history.add_argument("--box", help="only this box (ENV name or id)")
    history.add_argument("--workload", help="only this workload or cell")
    history.add_argument("--verdict", help="only this verdict, for example NO-GO")
    history.add_argument("--json", action="store_true", help="for programs")
    history.set_defaults(run=_history)
    family = commands.add_parser("family", help="one page and one plot of several results")
    family.add_argument("folders", nargs="+", type=Path, help="results/PHASE/RUN")
    family.add_argument("--title", required=True)
    family.add_argument("--out", type=Path, required=True, help="folder of the page")
    family.set_defaults(run=_family)
    selftest = commands.add_parser("selftest", help="error rates and power by simulation")
    selftest.add_argument("--reps", type=int, default=20000, help="experiments a row (20000)")
    selftest.add_argument("--out", type=Path, help="write the table here too")
    selftest.set_defaults(run=_selftest)
    profile = commands.add_parser("profile-report", help="report.md and graphs of a profile")
    profile.add_argument("folder", type=Path, help="results/profile/NAME/RUN")
    profile.set_defaults(run=_profile_report)
    candidates = commands.add_parser("candidates", help="what is left to try, and what failed")
    candidates.add_argument("results", nargs="?", type=Path, default=Path("results"))
    candidates.add_argument("--json", action="store_true", help="for programs")
    candidates.set_defaults(run=_candidates)
    calibrate = commands.add_parser("calibrate-report", help="A/A analysis: calibration.json")
    calibrate.add_argument("folder", type=Path)
    calibrate.add_argument("--out", type=Path, help="instead of DIR/calibration.json")
    calibrate.add_argument("--keep", type=Path, help="write it here too")
    calibrate.set_defaults(run=_calibrate)
    times = commands.add_parser("calibrate-times", help="the words of many short A/A runs")
    times.add_argument("folder", type=Path)
    times.add_argument("--force", action="store_true", help="pool runs of unlike machines")
    times.set_defaults(run=_calibrate_times)
    _box_commands(commands)
    power = commands.add_parser(
        "slices-power", help="how often slices mode finds a slowdown of known size"
    )
    power.add_argument("workload", nargs="*", help="and NAME=VALUE (random_mixed)")
    power.add_argument("--percent", type=float, default=0.5, help="the slowdown (0.5)")
    power.add_argument("--times", type=int, default=10, help="repetitions (10)")
    power.add_argument("--seconds", type=float, default=54.0, help="of slices in each (54)")
    power.add_argument("--out", type=Path, help="write the table here too")
    power.set_defaults(run=_slices_power)
    export = commands.add_parser("export", help="samples as CSV or google-benchmark JSON")
    export.add_argument("folder", type=Path)
    kind = export.add_mutually_exclusive_group(required=True)
    kind.add_argument("--csv", action="store_true")
    kind.add_argument("--gbench", action="store_true")
    export.add_argument("--out", type=Path, help="write here instead of to stdout")
    export.set_defaults(run=_export)
    layout = commands.add_parser("layout-report", help="layout.md of a folder of hak layout")
    layout.add_argument("folder", type=Path)
    layout.set_defaults(run=_layout)
    trace = commands.add_parser("trace", help="what is in an allocation trace of hak record")
    trace.add_argument("action", choices=("show",))
    trace.add_argument("file", type=Path)
    trace.add_argument("--out", type=Path, metavar="DIR", help="plots of sizes and lifetimes")
    trace.set_defaults(run=_trace)
    heap = commands.add_parser("heap", help="call sites of the live bytes in a heap profile")
    heap.add_argument("file", type=Path)
    heap.add_argument("--top", type=int, default=20, help="so many sites (20)")
    heap.set_defaults(run=_heap)


def _box_commands(commands: Any) -> None:
    promote = commands.add_parser(
        "promote", help="change a box's default: with a GO, and a fresh confirmation"
    )
    promote.add_argument("box", help="ENV name or id")
    promote.add_argument("--evidence", type=Path, required=True, metavar="DIR", help="a GO result")
    promote.add_argument(
        "--confirmation", type=Path, metavar="DIR", help="a finished one (default: measure it now)"
    )
    promote.add_argument(
        "--layout",
        type=Path,
        metavar="DIR",
        help="layouts of a shape or boot box (default: the newest below results/layout)",
    )
    promote.add_argument("--results", type=Path, metavar="DIR", help="folder of results")
    promote.add_argument("--force", action="store_true", help="results of unlike machines too")
    promote.set_defaults(run=_promote)
    retire = commands.add_parser("retire", help="archive a box that lost; its card stays")
    retire.add_argument("box", help="ENV name or id")
    retire.add_argument("--reason", help="why, in a sentence (default: what the verdict says)")
    retire.add_argument("--results", type=Path, metavar="DIR", help="folder of results")
    retire.set_defaults(run=_retire)


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
        return error.code
    except _UsageError as error:
        parser.error(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.IO_ERROR
    except KeyboardInterrupt:
        return errors.INTERRUPTED
