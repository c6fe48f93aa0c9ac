"""Stacks in the format of speedscope (https://www.speedscope.app), for its own viewer."""

from __future__ import annotations

from ..files import Json
from .flame import label_of
from .samples import Recordings


def speedscope(name: str, arms: dict[str, Recordings]) -> Json:
    """One file with a profile for each arm; weights are samples."""
    frames = sorted({f for found in arms.values() for stack in found.stacks for f in stack})
    index = {frame: position for position, frame in enumerate(frames)}
    profiles = []
    for arm, found in arms.items():
        stacks = sorted(found.stacks.items())
        profiles.append(
            {
                "type": "sampled",
                "name": arm,
                "unit": "none",
                "startValue": 0,
                "endValue": found.total,
                "samples": [[index[frame] for frame in stack] for stack, _ in stacks],
                "weights": [sum(counts) for _, counts in stacks],
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": name,
        "shared": {"frames": [{"name": label_of(f), "file": f.dso} for f in frames]},
        "profiles": profiles,
    }
