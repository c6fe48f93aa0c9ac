"""Result folders made of seeded noise, in the format of docs/design/files.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

BOX = "HAKMEM_REFILL_BATCH"
Json = dict[str, Any]


@dataclass
class Fake:
    """A run to make. `effects`: true % of each treatment arm; `references`: % of baseline's speed."""

    blocks: int = 10
    seed: int = 7
    sd_pct: float = 0.6
    drift_pct: float = 2.0
    cells: tuple[str, ...] = ("random_mixed",)
    effects: dict[str, float] = field(default_factory=lambda: {"treatment": 3.0})
    values: dict[str, str] = field(default_factory=lambda: {"baseline": "1", "treatment": "16"})
    references: dict[str, float] = field(default_factory=lambda: {"mimalloc": 97.0})
    status: str = "complete"
    experiment: Json = field(default_factory=dict)
    manifest: Json = field(default_factory=dict)
    change: Callable[[Json], Json | None] = lambda record: record


def manifest_of(fake: Fake) -> Json:
    arms = [_arm("baseline", "baseline", fake.values["baseline"])]
    arms += [_arm(name, "treatment", fake.values[name]) for name in fake.effects]
    arms += [
        {"name": name, "role": "reference", "library": name, "env": {}, "sha256": f"{name}-sha"}
        for name in fake.references
    ]
    experiment: Json = {
        "phase": "quickstart",
        "title": "Refill batch 1 against 16",
        "hypothesis": "Taking several blocks at each refill spreads the cost of the slow path.",
        "forecast": {"low": 2.0, "high": 6.0},
        "metric": {"name": "ops_per_s", "direction": "higher"},
        "neutral_threshold_pct": 1.0,
        "runs": fake.blocks,
        "guards": [{"metric": "peak_rss_kib", "direction": "lower", "margin_pct": 2.0}],
    }
    manifest: Json = {
        "format": 1,
        "phase": "quickstart",
        "run": "20261201-023000",
        "experiment_sha256": "ab" * 32,
        "started": "2026-12-01T02:30:00Z",
        "status": fake.status,
        "experiment": {**experiment, **fake.experiment},
        "arms": arms,
        "cells": [
            {
                "cell": name,
                "workload": name.split("/")[0],
                "params": {"slots": 400},
                "primary": not i,
            }
            for i, name in enumerate(fake.cells)
        ],
        "environment": {"allow_list": {"LC_ALL": "C", "PATH": "/usr/bin"}},
        "build": {"compiler": "gcc 12.2.0", "flags": "-O2 -g", "profile": "standard"},
        "git": {"commit": "0123456789abcdef", "dirty": False},
        "machine": {
            "cpu": "Example CPU",
            "cores": 2,
            "allowed_cpus": [0, 1],
            "kernel": "6.1.0",
            "libc": "glibc 2.36",
            "governor": None,
            "thp": "madvise",
            "virtualisation": "kvm",
            "fingerprint": "f00d",
        },
        "doctor": [
            {"check": "aslr", "state": "on", "severity": "note", "effect": "layout varies by run"},
            {"check": "swap", "state": "none", "severity": "ok", "effect": ""},
        ],
        "notices": [],
        "sessions": [{"session": 1, "boot_id": "b", "started": "2026-12-01T02:30:00Z"}],
        "missing": {"machine.governor": "no cpufreq in /sys"},
    }
    return {**manifest, **fake.manifest}


def _arm(name: str, role: str, value: str) -> Json:
    return {
        "name": name,
        "role": role,
        "library": "lab",
        "env": {BOX: value},
        "sha256": "1ab" * 8,
        "build_id": "b01d",
    }


def records_of(fake: Fake) -> list[Json]:
    """All samples in the order of measuring. Every value is rounded, so that files are stable."""
    generator = np.random.default_rng(fake.seed)
    manifest = manifest_of(fake)
    records = []
    for number, cell in enumerate(fake.cells):
        drift = 0.0
        for block in range(fake.blocks):
            drift = 0.95 * drift + generator.normal(0.0, 0.3 * fake.drift_pct)
            order = generator.permutation(len(manifest["arms"]))
            for slot, index in enumerate(order):
                arm = manifest["arms"][index]
                noise = drift + generator.normal(0.0, fake.sd_pct)
                share = fake.references.get(arm["name"], 100.0) / 100.0
                share *= 1.0 + fake.effects.get(arm["name"], 0.0) / 100.0
                speed = 5.0e7 * (1.0 + 0.3 * number) * share * np.exp(noise / 100.0)
                record = _record(cell, arm, block, slot, round(speed, 1), generator)
                changed = fake.change(record)
                if changed is not None:
                    records.append(changed)
    return records


def _record(
    cell: str, arm: Json, block: int, slot: int, speed: float, generator: np.random.Generator
) -> Json:
    seed = 42 + block % 2
    report = {
        "library": arm["library"],
        "variant": "baseline",
        "boxes": {
            BOX: {"value": int(arm["env"].get(BOX, 16)), "default": 16, "uses": 1000 + block}
        },
    }
    return {
        "format": 1,
        "cell": cell,
        "arm": arm["name"],
        "block": block,
        "slot": slot,
        "session": 1,
        "seed": seed,
        "attempt": 1,
        "started": "2026-12-01T02:30:01Z",
        "cpus": [1],
        "status": "ok",
        "detail": "",
        "exit_code": 0,
        "signal": None,
        "metrics": {
            "ops_per_s": speed,
            "ns_per_op": round(1e9 / speed, 6),
            "peak_rss_kib": int(2048 + generator.integers(0, 12)),
            "instructions": None,
        },
        "missing": {"instructions": "perf_event_open: No such file or directory"},
        "checksum": f"c{seed}",
        "record": {"latency_ns": None},
        "proof": {
            "ok": True,
            "problems": [],
            "mapped": "libhakmem-lab.so" if arm["library"] == "lab" else f"lib{arm['library']}.so",
            "sha256": arm["sha256"],
            "build_id": arm.get("build_id"),
            "serves_malloc": True,
            "report": report if arm["library"] == "lab" else None,
        },
        "void": None,
    }


def make_run(folder: Path, fake: Fake | None = None) -> Path:
    """Writes the folder and returns it."""
    fake = fake or Fake()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest_of(fake), indent=1), "utf-8")
    lines = [json.dumps(record) + "\n" for record in records_of(fake)]
    (folder / "samples.jsonl").write_text("".join(lines), "utf-8")
    return folder
