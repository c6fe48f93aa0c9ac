"""The bottleneck report of a profile: report.md, and what programs read beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from ..errors import AnalysisError
from ..files import FORMAT, Json, check_format, dump_json, read_json, write_text
from ..history import Entry, read_history
from ..units import count, plain, signed, span
from .candidates import Candidate, candidates_of, known_boxes
from .counts import ENTRIES, CountSet, count_sets, read_code
from .flame import flame_graph, label_of
from .kinds import file_of, short_name
from .samples import Recordings, read_samples
from .shares import Difference, Ranked, Share, Shares, differences, shares_of
from .speedscope import speedscope

SHOWN = 50  # ranked functions, as in the record
LEAST_PCT = 0.1
UNKNOWN_LIMIT_PCT = 2.0
LOST_LIMIT_PCT = 1.0
DIFFERENCES_SHOWN = 25
RARE = 0.01  # an instruction executed in fewer calls is no part of the fast path

RULES = """\
- Cold paths stay cold: a slow path below 2 % is left alone, and no code moves from it into the hot unit.
- A gain is a forecast until an experiment of its own says GO; the greatest possible gain is no forecast.
- Any change of a fast path moves code: `shape_null` is the control, and promotion needs `hak layout`.
- A candidate that failed once needs a new reason before it is tried again."""


@dataclass
class ArmProfile:
    """One arm with all that was found of it."""

    arm: Json
    samples: Recordings
    shares: Shares
    counts: list[CountSet]
    candidates: list[Candidate]
    code: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.arm["name"])


def write_profile_report(folder: Path) -> str:
    """Writes report.md, candidates.json, flame graphs and speedscope.json into the folder of a
    profile. Gives the summary. AnalysisError where profile.json or the samples are no good."""
    profile = read_json(folder / "profile.json")
    check_format(profile, str(folder / "profile.json"))
    samples = read_samples(folder, profile)
    boxes, history = known_boxes(), _history(folder)
    program = str(profile.get("program") or "")
    found = []
    for arm in profile["arms"]:
        recordings = samples[str(arm["name"])]
        shares = shares_of(recordings, str(arm["file"]), program)
        candidates = candidates_of(shares, boxes, history)
        found.append(
            ArmProfile(arm, recordings, shares, count_sets(arm), candidates, read_code(folder, arm))
        )
    _write_graphs(folder, profile, found)
    content = {
        "format": FORMAT,
        "target": profile.get("target"),
        "started": profile.get("started"),
        "cell": profile.get("cell"),
        "arm": found[0].name,
        "owned_pct": found[0].shares.owned.pct,
        "instructions": _fast_instructions(found[0]),
        "candidates": [candidate.to_json() for candidate in found[0].candidates],
    }
    write_text(folder / "candidates.json", dump_json(content))
    write_text(folder / "report.md", report_text(profile, found))
    return f"{_headline(found[0])}\nreport: {folder / 'report.md'}\n"


def _fast_instructions(item: ArmProfile) -> Json:
    """Instructions a call of the fast paths, by candidate; empty where nothing was counted."""
    for one in item.counts:
        if not one.problem:
            return {"malloc fast path": one.per_malloc, "free fast path": one.per_free}
    return {}


def _history(folder: Path) -> list[Entry]:
    """Earlier results beside results/profile/NAME/RUN; none where there is no such folder."""
    parents = folder.resolve().parents
    try:
        return read_history(parents[2])[0] if len(parents) > 2 else []
    except AnalysisError:
        return []


def _write_graphs(folder: Path, profile: Json, found: list[ArmProfile]) -> None:
    program, target = str(profile.get("program") or ""), str(profile.get("target"))
    for item in found:
        title = f"{target}, {item.name}: {count(item.samples.total, 'sample')}"
        text = flame_graph(title, item.samples, str(item.arm["file"]), program)
        write_text(folder / f"flame-{item.name}.svg", text)
    if len(found) == 2:
        first, second = found
        title = f"{target}: {first.name}, coloured by its change from {second.name}"
        text = flame_graph(title, first.samples, str(first.arm["file"]), program, second.samples)
        write_text(folder / "flame-difference.svg", text)
    content = speedscope(target, {item.name: item.samples for item in found})
    write_text(folder / "speedscope.json", dump_json(content, indent=None))


def report_text(profile: Json, found: list[ArmProfile]) -> str:
    """The whole report."""
    parts = [_head(profile, found)]
    for item in found:
        parts += [_time(profile, item, len(found) > 1)]
    if len(found) == 2:
        parts.append(_difference(found[0], found[1]))
    parts.append(_counts(found))
    parts.append(_hottest(profile, found[0]))
    parts.append(_candidates(found[0]))
    parts.append(f"## Rules of the record\n\n{RULES}")
    parts.append(_files(found))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(c.replace("|", "\\|") for c in line) + " |" for line in lines
    )


def _pct(share: Share) -> str:
    low, high = share.ci95_pct
    return f"{plain(share.pct, 2)} % ({plain(low, 1)}…{plain(high, 1)})"


def _headline(item: ArmProfile) -> str:
    text = f"{item.name}: the allocator owns {_pct(item.shares.owned)} of the time"
    warm = [c for c in item.candidates if not c.is_cold]
    if not warm:
        return text + "; no candidate"
    best = warm[0]
    return f"{text}; first candidate: {best.subject}, at most {signed(best.gain_pct, 1)} %"


def _head(profile: Json, found: list[ArmProfile]) -> str:
    event = str(profile.get("event"))
    reason = str(profile.get("event_reason") or "")
    lines = [
        f"# Profile: {profile.get('target')}",
        "",
        *(f"**{_headline(item)}**\n" for item in found),
        f"- Cell: `{profile.get('cell')}`, started {profile.get('started')}",
        f"- Samples of {event} at {profile.get('frequency')} Hz, call graphs by "
        f"{profile.get('call_graph')}, {profile.get('perf')}",
    ]
    if reason:
        lines.append(
            f"- **No cycles: {reason}.** Time is sampled instead; its skid makes single "
            "instructions meaningless, so those come from callgrind."
        )
    for item in found:
        arm = item.arm
        lines.append(
            f"- Arm {item.name}: `{arm['file']}` {str(arm.get('sha256') or '')[:12]}, "
            f"{count(len(item.samples.lost), 'recording')}, "
            f"{count(item.samples.total, 'sample')}"
        )
        lines += [f"- **Notice:** {text}" for text in notices(item)]
    return "\n".join(lines)


def notices(item: ArmProfile) -> list[str]:
    """What makes this arm's profile worth less."""
    found, shares = [], item.shares
    lost = sum(item.samples.lost)
    lost_pct = 100.0 * lost / (lost + item.samples.total)
    if lost_pct >= LOST_LIMIT_PCT:
        found.append(
            f"perf lost {count(lost, 'sample')} ({plain(lost_pct, 1)} %): shares are "
            "biased; record with a lower --frequency"
        )
    elif lost:
        found.append(f"perf lost {count(lost, 'sample')} ({plain(lost_pct, 2)} %)")
    if item.arm.get("ours") and shares.unknown_ours.pct >= UNKNOWN_LIMIT_PCT:
        found.append(
            f"{_pct(shares.unknown_ours)} of the time has no name in files of this build: "
            "was the library stripped?"
        )
    foreign = shares.unknown.pct - shares.unknown_ours.pct
    if foreign >= UNKNOWN_LIMIT_PCT:
        found.append(
            f"{plain(foreign, 1)} % of the time lies in files without symbols; it is named "
            "by file and offset"
        )
    if not shares.owned.count:
        found.append("no sample lies in the allocator: did the program use it at all?")
    missing = item.arm.get("counts_missing")
    if missing:
        found.append(f"no instruction counts: {missing}")
    found += [f"no instruction counts of {s.what}: {s.problem}" for s in item.counts if s.problem]
    return found


def _name(item: ArmProfile, ranked: Ranked) -> str:
    """The function; without a symbol the file, and where in it most samples fell."""
    frame = ranked.frame
    if frame.is_known:
        return f"`{short_name(frame.symbol)}`"
    most = [(n, -offset) for (f, offset), n in item.samples.offsets.items() if f == frame]
    return f"`{file_of(frame.dso)}+0x{-max(most)[1]:x}` and around" if most else label_of(frame)


def _time(profile: Json, item: ArmProfile, is_pair: bool) -> str:
    shares = item.shares
    rows = [[kind.value, _pct(share)] for kind, share in shares.by_kind.items()]
    rows.append(["**allocator and what it called**", f"**{_pct(shares.owned)}**"])
    rows.append(["of that, kernel", _pct(shares.asked)])
    shown = [r for r in shares.ranked[:SHOWN] if r.self_share.pct >= LEAST_PCT]
    ranked = [
        [
            str(i),
            _name(item, r),
            _pct(r.self_share),
            f"{plain(r.whole_share.pct, 2)} %",
            r.kind.value,
            file_of(r.frame.dso),
            f"{plain(min(r.runs_pct), 1)}…{plain(max(r.runs_pct), 1)}" if r.runs_pct else "–",
        ]
        for i, r in enumerate(shown, 1)
    ]
    columns = [
        "Rank",
        "Function",
        "Share (95 %)",
        "With callees",
        "Kind",
        "File",
        "By recording, %",
    ]
    title = f"## Where the time goes: {item.name}" if is_pair else "## Where the time goes"
    rest = f"{plain(100.0 - sum(r.self_share.pct for r in shown), 2)} % lies in the others."
    return "\n\n".join(
        [title, _table(["Kind", "Share (95 %)"], rows), _table(columns, ranked), rest]
    )


def _difference(first: ArmProfile, second: ArmProfile) -> str:
    found = differences(first.shares, second.shares)[:DIFFERENCES_SHOWN]
    rows = [_difference_row(item) for item in found if item.first.count or item.second.count]
    columns = ["Function", "Kind", first.name, second.name, "Change, points", "Clear"]
    text = (
        f"Shares of each arm's own time; change is {second.name} less {first.name}. Clear: the "
        "intervals do not touch. A share says nothing of speed: that is the experiment's to say."
    )
    return f"## Difference\n\n{text}\n\n" + _table(columns, rows)


def _difference_row(item: Difference) -> list[str]:
    return [
        f"`{short_name(label_of(item.frame))}`",
        item.kind.value,
        _pct(item.first),
        _pct(item.second),
        signed(item.change_pp),
        "yes" if item.is_clear else "–",
    ]


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else plain(value, digits)


def _counts(found: list[ArmProfile]) -> str:
    columns, rows = ["Counted", "Arm", "malloc", "free", "slow paths per op", "Calls"], []
    for position in range(max(len(item.counts) for item in found)):
        for item in found:
            if position >= len(item.counts) or item.counts[position].problem:
                continue
            one = item.counts[position]
            numbers = [_number(v) for v in (one.per_malloc, one.per_free)]
            slow, calls = _number(one.slow_per_op, 3), f"{one.mallocs} + {one.frees}"
            rows.append([one.what, item.name, *numbers, slow, calls])
    if not rows:
        return ""
    text = (
        "Exact counts by callgrind, user mode. malloc and free: the fast path with the lab's entry "
        "jump, per call. Calls: malloc + free of the whole program, start and end included."
    )
    parts = ["## Instructions per call", text, _table(columns, rows)]
    parts += [_slow_paths(item) for item in found]
    return "\n\n".join(part for part in parts if part)


def _slow_paths(item: ArmProfile) -> str:
    if not item.counts or item.counts[0].problem:
        return ""
    one = item.counts[0]
    rows = [
        [
            f"`{short_name(f.name)}`",
            str(f.entries),
            plain(f.per_entry, 1),
            plain(one.per_op(f), 4),
        ]
        for f in one.slow[:15]
    ]
    columns = [f"Slow path of {item.name}", "Entries", "Instructions per entry", "Per op"]
    return _table(columns, rows) if rows else ""


def _hottest(profile: Json, item: ArmProfile) -> str:
    usable = [one for one in item.counts if not one.problem]
    if not usable:
        return ""
    is_cycles = profile.get("event") == "cycles"
    parts = [f"## Hottest instructions of malloc and free: {item.name}"]
    for function in usable[0].functions:
        if function.entry not in ENTRIES or not function.entries:
            continue
        texts = item.code.get(function.name, {})
        rows = []
        for offset, executions in function.executions:
            per_call = executions / function.entries
            if per_call < RARE:
                continue
            sampled = sum(
                n
                for (frame, at), n in item.samples.offsets.items()
                if at == offset and frame.symbol == function.name
            )
            row = [f"+0x{offset:x}", plain(per_call, 3)]
            row += [str(sampled)] if is_cycles else []
            rows.append([*row, f"`{texts[offset]}`" if offset in texts else "–"])
        columns = ["Offset", "Per call", *(["Samples"] if is_cycles else []), "Instruction"]
        parts.append(f"`{function.name}`, {count(function.entries, 'call')}:")
        parts.append(_table(columns, rows))
    return "\n\n".join(parts) if len(parts) > 1 else ""


def _candidates(item: ArmProfile) -> str:
    if not item.candidates:
        return "## Candidates\n\nNone: no sample lies in the allocator or the kernel."
    rows = []
    for i, c in enumerate(item.candidates, 1):
        effort = c.to_json()
        gain = f"{signed(c.gain_pct, 1)} % ({span(c.gain_ci95_pct, 1)})"
        rows.append(
            [str(i), c.subject, c.kind.value, _pct(c.share), gain]
            + ["–" if c.is_cold else str(effort["effort"])]
            + ["–" if c.is_cold else str(effort["risk"]), c.advice]
        )
    columns = ["", "Candidate", "Kind", "Share (95 %)", "Greatest possible gain", "Effort", "Risk"]
    text = (
        "Greatest possible gain: throughput where the part cost nothing (Amdahl). No change reaches "
        "it; a forecast is a fraction of it."
    )
    table = _table([*columns, "What the record's rules say"], rows)
    return f"## Candidates\n\n{text}\n\n{table}\n\n{_earlier(item)}"


def _earlier(item: ArmProfile) -> str:
    lines = ["### Tried before", ""]
    for c in item.candidates:
        if c.earlier:
            lines.append(f"- {c.subject}:")
            lines += [f"  - {earlier_text(entry)}" for entry in c.earlier]
        elif c.boxes and not c.is_cold:
            lines.append(f"- {c.subject}: nothing measured yet; boxes: {', '.join(c.boxes)}")
        elif not c.is_cold:
            lines.append(f"- {c.subject}: nothing, and no box acts on it")
    return "\n".join(lines)


def earlier_text(entry: Entry) -> str:
    """One earlier result in a line."""
    delta = f" {signed(entry.delta_pct)} % ({span(entry.ci95_pct)})" if entry.ci95_pct else ""
    return f"{entry.box} on {entry.workload}: {entry.decision}{delta}, results/{entry.path}"


def _files(found: list[ArmProfile]) -> str:
    graphs = [f"[flame graph of {item.name}](flame-{item.name}.svg)" for item in found]
    if len(found) == 2:
        graphs.append("[flame graph of the difference](flame-difference.svg)")
    graphs.append("[speedscope.json](speedscope.json) for https://www.speedscope.app")
    return (
        "## Files\n\n"
        + "\n".join(f"- {text}" for text in graphs)
        + (
            "\n- `profile.json`, `samples.json`: what was recorded, folded; `hak profile-report DIR` "
            "writes this report again"
        )
    )
