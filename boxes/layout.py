"""hak layout BOX: whether a box pays in any layout, or only where the linker happened to put it.

    python3 boxes/layout.py BOX [--links 8] [--blocks 5] [--experiment FILE] [--results DIR]

Links the libraries K times, each time in another order, and measures three arms with each: `out`
(libhakmem.so, no research box), `off` and `on` (the lab). The analysis takes the K layouts as the
sample. Exit codes are those of hak: 2 wrong usage, 3 something is missing, 130 interrupted.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from check import chosen
from links import Link, NoLink, make_link
from registry import BUILD, ROOT, Box, boxes, program, setting

Json = dict[str, Any]
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
WORKLOAD = {"name": "random_mixed", "params": {"ops": 20_000_000, "slots": 400}}
KEPT = (
    "metric",
    "neutral_threshold_pct",
    "seeds",
    "timeout_seconds",
    "min_seconds",
    "void_limits",
)
"""Keys of the box's experiment that hold for its layouts too."""
MISSING, USAGE = 3, 2


class Stopped(Exception):
    """With the exit code of what stopped it."""

    def __init__(self, code: int, said: str = "") -> None:
        super().__init__(said)
        self.code = code


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"hak: layout: {message} (hak layout --help shows the usage)", file=sys.stderr)
        sys.exit(USAGE)


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="hak layout", description="A box over many links of the same objects.")
    parser.add_argument("box", help="id or ENV name; shape_null is the control")
    parser.add_argument(
        "--links", type=whole(2), default=8, help="layouts; 8, which promotion takes"
    )
    parser.add_argument("--blocks", type=whole(2), default=5, help="blocks of a layout; 5")
    parser.add_argument("--seed", type=whole(0), default=1, help="seed of the first layout; 1")
    parser.add_argument("--seconds", type=float, help="least measured time of a run")
    parser.add_argument("--experiment", type=Path, help="experiments/PHASE.json of the box")
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="folder of results")
    return parser.parse_args(words)


def whole(least: int) -> Any:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"at least {least}")
        return value

    return number


def read_experiment(path: Path) -> Json:
    """JSON with comments; {} where the box has no experiment yet."""
    if not path.exists():
        return {}
    text = COMMENT.sub(lambda match: match[1] or "", path.read_text(encoding="utf-8"))
    found: Json = json.loads(text)
    return found


def values_of(box: Box, experiment: Json) -> tuple[int, int]:
    """Baseline and treatment: the experiment's, else the default and the first other value."""
    values = experiment.get("values")
    if experiment.get("box") == box.env and isinstance(values, list) and len(values) == 2:
        return int(values[0]), int(values[1])
    return box.default, box.others[0]


def plan(box: Box, link: Link, experiment: Json, args: argparse.Namespace, known: Any) -> Json:
    """The experiment of one layout."""
    first, second = values_of(box, experiment)
    base = {str(k): str(v) for k, v in (experiment.get("base_env") or {}).items()}
    on, off = {**base, **setting(box, second, known)}, {**base, **setting(box, first, known)}
    # What the treatment requires is on in both arms: the box alone is what differs.
    off = {**{name: value for name, value in on.items() if name != box.env}, **off}
    workloads = experiment.get("workloads") or [WORKLOAD]
    primary = next((w for w in workloads if w.get("primary")), workloads[0])
    # Of a list of values the first: one cell is enough here.
    params = {k: v[0] if isinstance(v, list) else v for k, v in primary.get("params", {}).items()}
    made: Json = {
        "phase": "layout",
        "title": f"Layout {link.number} of {box.env}",
        "hypothesis": "The effect is the box's, not the layout's.",
        "forecast": experiment.get("forecast") or {"low": -1, "high": 1},
        "arms": [
            {"name": "off", "role": "baseline", "library": str(link.lab), "env": off},
            {"name": "on", "role": "treatment", "library": str(link.lab), "env": on},
            {"name": "out", "role": "reference", "library": str(link.out)},
        ],
        # Where hakmem stands against other allocators is asked once, not in every layout.
        "references": [],
        "workloads": [{**primary, **({"params": params} if params else {}), "primary": True}],
        "runs": args.blocks,
        "order_seed": link.seed,
    }
    made |= {key: experiment[key] for key in KEPT if key in experiment}
    if args.seconds is not None:
        made["min_seconds"] = args.seconds
    return made


def measure(folder: Path, link: Link, experiment: Json) -> Json:
    """Runs the experiment of one link; gives its entry of layout.json."""
    place = folder / "links" / f"{link.number:02}"
    place.mkdir(parents=True)
    file = place / "experiment.json"
    file.write_text(json.dumps(experiment, indent=1) + "\n", encoding="utf-8")
    command = [str(program()), "run", str(file), "--results", str(place), "--yes", "--no-code"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Stopped(done.returncode, f"layout {link.number} ended with {done.returncode}")
    (run,) = place.glob("layout/*/manifest.json")
    return {
        "number": link.number,
        "seed": link.seed,
        "pad_bytes": link.pad_bytes,
        "run": run.parent.relative_to(folder).as_posix(),
    }


def run(args: argparse.Namespace) -> Path:
    known = boxes()
    (box,) = chosen([args.box], known)
    experiment = read_experiment(args.experiment or ROOT / "experiments" / f"{box.id}.json")
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H%M%S")
    folder = Path(args.results).resolve() / "layout" / f"{box.id}-{stamp}"
    libraries = BUILD / "layout" / folder.name
    links: list[Json] = []
    cell = ""
    for number in range(1, args.links + 1):
        print(f"hak: layout {number}/{args.links}", file=sys.stderr, flush=True)
        link = make_link(BUILD, libraries, number, args.seed + number - 1)
        made = plan(box, link, experiment, args, known)
        cell = str(made["workloads"][0]["name"])
        links.append(measure(folder, link, made))
        first, second = values_of(box, experiment)
        content = {"format": 1, "box": box.env, "values": [first, second], "cell": cell}
        text = json.dumps({**content, "links": links}, indent=1)
        beside = folder / ".layout.json"
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(folder / "layout.json")
    return folder


def main(words: Sequence[str]) -> int:
    args = parse(words)
    try:
        folder = run(args)
    except LookupError as error:
        print(f"hak: layout: {error.args[0]}", file=sys.stderr)
        return USAGE
    except (NoLink, FileNotFoundError) as error:
        print(f"hak: layout: {error}", file=sys.stderr)
        return MISSING
    except Stopped as stopped:
        print(f"hak: layout: {stopped}", file=sys.stderr)
        return stopped.code
    except KeyboardInterrupt:
        return 130
    return subprocess.run([str(program()), "layout-report", str(folder)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
