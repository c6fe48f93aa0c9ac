"""`hak test`: runs the stages, a line each, and ends with `N passed, N failed`.

Exit codes: 0 all passed, 1 something failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time

from running import LOGS, Outcome, log_of
from stages import Stage, all_stages


def parse(stages: list[Stage]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hak test", description="Runs all tests and checks.")
    parser.add_argument("--fast", action="store_true", help="one build, its tests, and pytest")
    parser.add_argument(
        "--slow", action="store_true", help="also slow tests, and the allocator's on each build"
    )
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    parser.add_argument(
        "--stage",
        action="append",
        default=[],
        metavar="NAME",
        choices=[stage.name for stage in stages],
        help="only this stage and the builds it needs; may be given again",
    )
    return parser.parse_args()


def choose(stages: list[Stage], options: argparse.Namespace) -> list[Stage]:
    if options.stage:
        wanted = set(options.stage)
        for stage in stages:
            if stage.name in options.stage:
                wanted.update(stage.needs)
        return [stage for stage in stages if stage.name in wanted]
    return [
        stage
        for stage in stages
        if (stage.fast or not options.fast)
        and (not stage.only or (stage.only == "slow" and options.slow))
    ]


def counts(outcome: Outcome) -> str:
    parts = [f"{outcome.passed} passed"]
    if outcome.failed:
        parts.append(f"{outcome.failed} failed")
    if outcome.skipped:
        parts.append(f"{outcome.skipped} skipped")
    return ", ".join(parts) if outcome != Outcome() else "no tests"


def run_stage(stage: Stage) -> Outcome:
    log_of(stage.name).unlink(missing_ok=True)
    started = time.monotonic()
    try:
        outcome = stage.action()
    except Exception as error:  # a stage that breaks must not take the others with it
        outcome = Outcome(failed=1, said=f"{type(error).__name__}: {error}")
    word = "FAILED" if outcome.failed else "ok"
    seconds = time.monotonic() - started
    print(f"{word:7} {stage.name:20} {counts(outcome):32} {seconds:7.1f} s", flush=True)
    if outcome.failed:
        print("".join(f"    {line}\n" for line in outcome.said.splitlines()), end="")
        print(f"    (all of it: {log_of(stage.name)})", flush=True)
    return outcome


def accept_interrupts() -> None:
    """A shell starts `command &` with SIGINT ignored, and so would every program to which a test sends
    it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def clear_logs() -> None:
    shutil.rmtree(LOGS, ignore_errors=True)


def main() -> int:
    stages = all_stages()
    options = parse(stages)
    if options.list:
        for stage in stages:
            print(f"{stage.name:20} {stage.about}{f'  (--{stage.only})' if stage.only else ''}")
        return 0
    accept_interrupts()
    clear_logs()
    total = Outcome()
    failed: set[str] = set()
    for stage in choose(stages, options):
        broken = failed.intersection(stage.needs)
        if broken:
            print(f"{'-':7} {stage.name:20} not run: {', '.join(sorted(broken))} failed")
            continue
        outcome = run_stage(stage)
        total += outcome
        if outcome.failed:
            failed.add(stage.name)
    if failed:
        print(f"failed: {' '.join(sorted(failed))}")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
