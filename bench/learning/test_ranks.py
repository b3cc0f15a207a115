"""Tests of the statistics and the tables, without training."""
import math
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import hyper  # noqa: E402
import ranks  # noqa: E402
import student  # noqa: E402
import tables  # noqa: E402


def run(system, seed, value, **more):
    return {"env": "acrobot", "system": system, "seed": seed, "evaluation": value, "training": value - 1} | more


def canned():
    """The native env is worse than the baseline by far, the Gymnasium env is neither."""
    values = {"sb3": [-90, -80, -84, -88], "in-process": [-81, -89, -85, -86], "native": [-500, -400, -300, -200]}
    runs = [run(system, seed, value, digest=str(seed))
            for system, row in values.items() for seed, value in enumerate(row, 1)]
    return [*runs, run("workers", 1, -81, digest="1")]


def rank_test_without_scipy(ours, theirs):
    return 0.01 if max(ours) < min(theirs) else 0.6


@pytest.mark.parametrize("values, expected", [
    ([3.0], 3.0),
    ([1, 2, 3], 2.0),
    ([0, 4, 6, 1000], 5.0),
    ([-500, -90, -80, -80, -82, -84, -86, -88, -1000, 0], (-90 - 88 - 86 - 84 - 82 - 80) / 6),
])
def test_interquartile_mean_leaves_out_a_quarter_at_each_end(values, expected):
    assert ranks.interquartile_mean(values) == pytest.approx(expected)


def test_a_tie_is_half_a_win():
    assert ranks.chance_of_better([1, 2], [1, 2]) == 0.5
    assert ranks.chance_of_better([3, 4], [1, 2]) == 1
    assert ranks.chance_of_better([1, 1], [1, 2]) == 0.25


def test_holm():
    assert ranks.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert ranks.holm([0.9, 0.8]) == [1.0, 1.0]
    assert ranks.holm([]) == []


def test_rank_test_known_answers():
    pytest.importorskip("scipy")
    assert ranks.rank_test([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)  # 2 of the 20 orders
    assert ranks.rank_test([4, 5, 6], [1, 2, 3]) == pytest.approx(0.1)
    assert ranks.rank_test([500] * 5, [500] * 5) == pytest.approx(1)


def test_half_widths_are_student_s():
    stats = pytest.importorskip("scipy").stats
    for count in (2, 3, 8, 11, 12, 30, 100, 1000):
        values = [math.sin(i) for i in range(count)]
        low, high = stats.t.interval(0.95, count - 1, stats.tmean(values), stats.sem(values))
        assert student.half_width(values) == pytest.approx((high - low) / 2, rel=0.003)
    assert math.isnan(student.half_width([1]))


def test_compare_tests_each_system_beside_the_baseline():
    rows = ranks.compare(canned(), rank_test_without_scipy)
    assert [(row.measure, row.system, row.p) for row in rows] == [
        ("evaluation", "sb3", None), ("evaluation", "in-process", 0.6), ("evaluation", "native", 0.01),
        ("training", "sb3", None), ("training", "in-process", 0.6), ("training", "native", 0.01)]
    assert rows[2].better == 0 and rows[2].median == -350 and rows[2].holm == pytest.approx(0.04)


def test_selected_leaves_out_other_seeds_and_envs():
    results = {"versions": {}, "settings": {"acrobot": {"x": 1}, "pendulum": {"x": 2}}, "runs": canned()}
    chosen = ranks.selected(results, ["acrobot"], range(2, 4))
    assert chosen["settings"] == {"acrobot": {"x": 1}}
    assert {run["seed"] for run in chosen["runs"]} == {2, 3}
    assert ranks.selected(results, ["pendulum"], range(1, 9))["runs"] == []


def test_digests_of_workers_are_compared_by_seed():
    runs = canned()
    assert ranks.unequal_bits(runs) == (1, [])
    assert ranks.unequal_bits([*runs, run("workers", 2, -89, digest="other")]) == (2, [("acrobot", 2)])


def test_page_tells_numbers_tests_and_bits():
    runs = canned()
    text = tables.page({"versions": {"penstock": "1.2"}, "runs": runs}, ranks.compare(runs, rank_test_without_scipy))
    assert "| Acrobot-v1 | Stable-Baselines3 | 4 | -86.0 | -86.0 |  |  |  |" in text
    assert "| Acrobot-v1 | Penstock, native env | 4 | -350.0 | -350.0 | 0.00 | 0.010 | 0.04 |" in text
    assert "4 tests were made, 2 of them below 0.05" in text
    assert "bit for bit, in all 1 runs compared" in text
    assert "No run had worker processes." in tables.bits(runs[:-1])


def test_settings_are_equal_but_for_what_an_env_needs():
    assert hyper.equal("acrobot", {}) == hyper.COMMON
    assert hyper.equal("pendulum", {"ppo.gamma": 0.5})["ppo.gamma"] == 0.5
    with pytest.raises(SystemExit, match="ppo.gama"):
        hyper.equal("pendulum", {"ppo.gama": 0.5})
    assert hyper.of_recipe(hyper.COMMON | {"seed": 3}, {"ppo.clip": 0.1}) == hyper.COMMON | {"ppo.clip": 0.1}
