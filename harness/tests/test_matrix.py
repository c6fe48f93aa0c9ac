"""`factors`: one experiment over boxes and libraries, as a product."""

from __future__ import annotations

from conftest import FAKE, MISBEHAVE, Hak

BATCH, DELAY = "HAKMEM_REFILL_BATCH", "HAKMEM_PURGE_DELAY"


def test_two_boxes_make_a_square(hak: Hak) -> None:
    file = hak.experiment(
        MISBEHAVE,
        "work",
        60,
        runs=1,
        arms=None,
        library=str(FAKE),
        factors={BATCH: [16, 1], DELAY: [50, 0]},
    )
    result = hak.run(file)
    assert result.code == 0, result.err
    arms = {arm["name"]: arm for arm in result.manifest["arms"]}
    assert {name: (arm["env"][BATCH], arm["env"][DELAY]) for name, arm in arms.items()} == {
        "baseline": ("16", "50"),
        "purge_delay_0": ("16", "0"),
        "refill_batch_1": ("1", "50"),
        "refill_batch_1.purge_delay_0": ("1", "0"),
    }
    assert [arm["role"] for arm in result.manifest["arms"]] == ["baseline"] + 3 * ["treatment"]
    assert {sample["arm"] for sample in result.samples} == set(arms)


def test_a_library_without_boxes_stands_once(hak: Hak) -> None:
    file = hak.experiment(
        MISBEHAVE,
        "work",
        60,
        runs=1,
        arms=None,
        factors={BATCH: [16, 1], "library": [str(FAKE), "glibc"]},
    )
    result = hak.run(file)
    assert result.code == 0, result.err
    names = [arm["name"] for arm in result.manifest["arms"]]
    assert names == ["baseline", "glibc", "refill_batch_1"]
    assert BATCH not in next(a for a in result.manifest["arms"] if a["name"] == "glibc")["env"]


def test_arms_and_factors_exclude_each_other(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 60, factors={BATCH: [16, 1]}))
    assert result.code == 2
    assert "give one of box and values, arms, and factors" in result.err
