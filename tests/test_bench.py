"""The pure parts of the bench: what it reads, what it computes, what it shows."""

import io
import sys
from pathlib import Path
from string import Template
from uuid import UUID

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import deliveries, flood, ledger, pgbench, plot, profiling, report, rules, sampled, wrk
from bench.growth import GROWTHS, Growth
from bench.load import BenchError, Load
from bench.measurement import (
    Measurement,
    Point,
    Result,
    Trial,
    any_errors,
    percentile,
    summarise,
    summarise_trials,
)
from bench.modes import Plan
from bench.receiver import Tally
from bench.scenarios import SCENARIOS, counted
from rich.console import Console

PGBENCH_REPORT = """\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 50
number of transactions actually processed: 4921
number of failed transactions: 3 (0.061%)
latency average = 39.214 ms
initial connection time = 127.550 ms
tps = 1632.084 (without initial connection time)
"""
WRK_REPORT = """\
Running 3s test @ http://127.0.0.1:4960
  Non-2xx or 3xx responses: 2
farthing-report {"requests":4500,"duration":3000000,"p50":41446.0,"p99":87169.5,"errors":2}
"""


def run(rate: float, *, p50: float = 1.0, p99: float = 2.0, errors: int = 0) -> Measurement:
    return Measurement(rate=rate, p50=p50, p99=p99, operations=int(rate), errors=errors)


def test_pgbench_report_is_read() -> None:
    measured = pgbench.read_output(PGBENCH_REPORT, [10.0, 20.0, 30.0])
    assert measured == Measurement(rate=1632.084, p50=20.0, p99=30.0, operations=4921, errors=3)


def test_pgbench_report_without_a_rate_is_refused() -> None:
    with pytest.raises(BenchError, match="tps"):
        pgbench.read_output("pgbench: interrupted", [])


def test_pgbench_log_gives_milliseconds() -> None:
    assert pgbench.read_times(["0 199 2241 0 1175850568 995598", ""]) == [2.241]


def test_wrk_report_is_read() -> None:
    measured = wrk.read_output(WRK_REPORT)
    assert measured == Measurement(rate=1500.0, p50=41.446, p99=87.1695, operations=4500, errors=2)


def test_wrk_output_without_a_report_is_refused() -> None:
    with pytest.raises(BenchError, match="unable to connect"):
        wrk.read_output("unable to connect to 127.0.0.1")


def test_missing_wrk_is_answered_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BenchError, match="apt-get install wrk"):
        wrk.require()


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1.0), (0.5, 50.0), (0.99, 99.0), (0.991, 100.0), (1.0, 100.0)]
)
def test_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert percentile(values, share) == expected


def test_percentile_of_one_value_and_of_none() -> None:
    assert percentile([7.0], 0.99) == 7.0
    assert percentile([], 0.99) == 0.0


def test_ratio_is_to_the_mean_of_the_references_around() -> None:
    assert Trial(run(900), run(500), run(1100)).ratio == 0.5


def test_ratio_to_a_reference_that_did_nothing_is_zero() -> None:
    assert Trial(run(0), run(500), run(0)).ratio == 0.0


def test_rounds_are_summed_up() -> None:
    first = Trial(run(1000), run(500, p50=10, p99=20, errors=1), run(1000))
    second = Trial(run(1000), run(700, p50=20, p99=90), run(1000))
    result = summarise_trials("accounts", [first, second])
    assert (result.rate, result.p50, result.p99, result.errors) == (600.0, 15.0, 90.0, 1)
    assert result.ratios == [0.5, 0.7]
    assert result.ratio == pytest.approx(0.6)
    assert any_errors([result])


@pytest.fixture
def results() -> list[Result]:
    reference = summarise("pgbench", [run(1000)], [1.0])
    trials = [Trial(run(1000), run(rate), run(1000)) for rate in (2400, 2600)]
    return [reference, summarise_trials("postings", trials)]


def test_table_for_the_terminal(results: list[Result]) -> None:
    screen = io.StringIO()
    Console(width=100, file=screen).print(report.for_terminal(results))
    text = screen.getvalue()
    assert "2,500" in text
    assert "2.50 (2.40 to 2.60)" in text


def test_table_for_people(results: list[Result]) -> None:
    made = report.make(Load(8), 2, {"cores": "2"}, results)
    text = report.for_people(made, "latest.png")
    assert "| postings | 2,500 | 1.0 | 2.0 | 0 | 2.50 (2.40 to 2.60) |" in text
    assert "| pgbench | 1,000 | 1.0 | 2.0 | 0 | 1.00 |" in text
    assert "- cores: 2" in text
    assert "failed" not in text


def test_report_of_a_run_with_errors_says_so() -> None:
    bad = summarise("accounts", [run(1000, errors=1)], [1.0])
    assert "This run failed" in report.for_people(report.make(Load(8), 1, {}, [bad]), "latest.png")


def test_pairs_are_told_beside_the_requests() -> None:
    escrow = summarise("escrow", [counted(run(1000), [510, 490])], [1.0])
    assert escrow.pairs == 490
    assert report.say_rate(escrow) == "1,000 (490 pairs)"


@pytest.mark.parametrize(
    ("made", "errors", "pairs"),
    [([], 2, 0), ([1000], 2, 0), ([990], 10, 0), ([1064], 2, 0), ([500, 480], 20, 480)],
)
def test_an_answer_without_its_row_is_an_error(made: list[int], errors: int, pairs: int) -> None:
    found = counted(run(1000, errors=2), made)
    assert (found.errors, found.pairs) == (errors, pairs)


def test_money_goes_round() -> None:
    first, second, third = (UUID(int=number) for number in range(3))
    assert ledger.ring([first, second, third]) == [
        (first, second),
        (second, third),
        (third, first),
    ]


def test_scenarios_are_chosen_by_a_part_of_their_name() -> None:
    names = [one.name for one in Plan("quick", Load(3), 1, "Transfers", {}).chosen()]
    assert names == [
        "Internal transfers over HTTP, 1,000 accounts",
        "Internal transfers over HTTP, one hot account",
    ]
    with pytest.raises(BenchError, match="Escrow held and released"):
        Plan("quick", Load(3), 1, "nonsense", {}).chosen()


def test_every_name_is_told_once() -> None:
    assert len({one.name for one in SCENARIOS}) == len(SCENARIOS)


def test_report_of_sizes_tells_the_cost() -> None:
    growth = GROWTHS[1]
    text = report.of_sizes(growth, [run(1000, p99=20), run(1200, p99=30)], [run(1000)])
    assert text.startswith("# Internal transfers over HTTP, 1,000 accounts, beside few")
    assert "| 10,000 | 1,100 | 1.0 | 30.0 |" in text
    assert "| 1,000,000 | 1,000 | 1.0 | 2.0 |" in text
    assert "costs 1.10 times as much" in text


@pytest.mark.parametrize("growth", GROWTHS, ids=lambda one: one.noun)
def test_statements_that_fill_name_nothing_unknown(growth: Growth) -> None:
    for sql in growth.statements:
        assert "$" not in Template(sql).substitute(tenant="t", many=1)


@pytest.fixture
def points() -> list[Point]:
    return [Point(1, run(400), run(200)), Point(64, run(1500, p99=40), run(1000, errors=1))]


def test_report_of_a_sweep(points: list[Point]) -> None:
    text = report.of_sweep("Transfers", points, "connections.png")
    assert "| 1 | 400 | 1.0 | 2.0 | 0 | 200 | 1.0 | 2.0 | 0 | 2.00 |" in text
    assert "| 64 | 1,500 | 1.0 | 40.0 | 0 | 1,000 | 1.0 | 2.0 | 1 | 1.50 |" in text
    assert Point(1, run(1), run(0)).ratio == 0.0


def test_sweep_is_drawn(points: list[Point], tmp_path: Path) -> None:
    plot.draw_sweep("Transfers", points, tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


STACKS: list[profiling.Stack] = [
    (3, ["farthing/db/batch.py:Batch.run", "asyncio/runners.py:Runner.run"]),
    (1, ["uuid.py:UUID.__str__", "farthing/db/batch.py:Batch.run"]),
]


def test_shares_of_functions() -> None:
    assert ("farthing/db/batch.py:Batch.run", 0.75, 1.0) in profiling.shares(STACKS)
    assert ("asyncio/runners.py:Runner.run", 0.0, 0.75) in profiling.shares(STACKS)
    assert profiling.packages(STACKS)[0] == ("farthing/db", 0.75)


def test_profile_tells_processor_time_for_each_request() -> None:
    found = profiling.Profile(run(1000), {"PostgreSQL": 0.5}, STACKS)
    text = profiling.for_people("Transfers", found)
    assert "| PostgreSQL | 0.500 |" in text
    assert "| `uuid.py:UUID.__str__` | 25.0% | 25.0% |" in text


def test_samples_name_functions_from_their_package_on(tmp_path: Path) -> None:
    assert sampled.name(report.make.__code__).endswith("bench/report.py:make")
    sampler = sampled.Sampler(tmp_path / "samples")
    sampler.end()
    assert profiling.read(tmp_path / "samples") == []


def test_the_report_of_a_flood_says_what_the_calm_tenant_keeps() -> None:
    rounds = [
        flood.Round(run(200, p99=9), run(150, p99=30), run(1000)),
        flood.Round(run(200, p99=8), run(50, p99=40), run(1000)),
    ]
    text = flood.for_people(Load(8), rounds)
    assert "keeps 50% of its rate" in text
    assert "| The calm tenant opens accounts, beside the flood | 4 | 100 | 1.0 | 40.0 |" in text
    assert len(flood.measurements(rounds)) == 6


def test_a_pause_lets_callers_make_so_many_events_together() -> None:
    assert deliveries.pause_for(64, 1000) == 128 - 25


def test_deliveries_that_were_lost_or_came_twice_are_counted() -> None:
    tally = Tally(received=12, distinct=10, p50=1.0, p99=2.0)
    assert deliveries.Run(run(5.0), 10, 8, tally, 2.0).wrong == 2
    assert deliveries.Run(run(5.0), 11, 8, tally, 2.0).wrong == 3
    assert deliveries.Run(run(5.0), 10, 8, tally, 2.0).rate == 4.0


def test_report_of_deliveries_tells_rates_and_lags() -> None:
    tally = Tally(received=4000, distinct=4000, p50=29.0, p99=1146.0)
    some = [deliveries.Run(run(500.0), 4000, 3000, tally, 2.0)]
    text = deliveries.for_people(some, some)
    assert "| 2,000 | 1,500 | 29 | 1,146 | 0 |" in text


def test_ten_rules_are_eight_plain_ones_and_two_with_windows() -> None:
    ten, hundred = rules.conditions(10), rules.conditions(100)
    assert (len(ten), len(hundred), len(set(hundred))) == (10, 100, 100)
    assert sum("history." in one for one in ten) == 2
    assert not any("owner." in one for one in ten)
    assert rules.conditions(0) == []


def test_report_of_rules_tells_which_share_of_the_rate_is_left() -> None:
    one, other = (run(1000.0), run(900.0), run(500.0)), (run(1000.0), run(800.0), run(700.0))
    text = rules.for_people([rules.Round(one), rules.Round(other)])
    assert "| 10 | 2 | 850 | 1.0 | 2.0 | 0.85 (0.83 to 0.88) |" in text
    assert "| 100 | 20 | 600 | 1.0 | 2.0 | 0.60 (0.55 to 0.65) |" in text


def test_rules_are_measured_there_and_back_again() -> None:
    asked: list[str] = []

    class Named(rules.House, frozen=True):
        def transfer(self, _: Load) -> Measurement:
            asked.append(self.base_url)
            return run(float(self.base_url))

    found = rules.measure([Named("4", {}), Named("3", {}), Named("2", {})], Load(1), 2)
    assert asked == ["4", "3", "2", "2", "3", "4"]
    assert [one.shares for one in found] == [[1.0, 0.75, 0.5]] * 2
