"""What a run may spend. spec: B4, B5, P7."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.budget import (
    Exceeded,
    Limits,
    Spent,
    Usage,
    add,
    dollars,
    exceeded,
    hint_used,
    percent,
    warning,
)
from holdfast.core.session import StopReason

FREE = Limits(tool_calls=0)


def ask(limits, spent, *, cap=None, totals=None, elapsed_ms=0):
    return exceeded(limits, spent, cap=cap, totals=totals or Usage(), elapsed_ms=elapsed_ms)


def used(cost=0, tokens=0, tool_calls=0, rounds=0, *, warned=False):
    usage = Usage(cost_micros=cost, input_tokens=tokens)
    return Spent(usage=usage, tool_calls=tool_calls, rounds=rounds, warned=warned)


def test_usage_adds_up_field_by_field():
    one = Usage(
        input_tokens=1,
        output_tokens=2,
        cache_read_tokens=3,
        cache_write_tokens=4,
        cost_micros=5,
    )

    expected = Usage(
        input_tokens=2,
        output_tokens=4,
        cache_read_tokens=6,
        cache_write_tokens=8,
        cost_micros=10,
    )
    assert expected == add(one, one)


def test_a_report_of_less_than_nothing_gives_nothing_back():  # spec: P7
    assert Usage(cost_micros=7) == add(
        Usage(cost_micros=7), Usage(cost_micros=-5, output_tokens=-1)
    )


def test_a_tenth_of_a_cent_ten_thousand_times_is_ten_dollars():
    total = Usage()
    for _ in range(10_000):
        total = add(total, Usage(cost_micros=1_000))

    assert dollars(total.cost_micros) == "$10.00"


REACHED = {
    "money": (
        Limits(cost_micros=500_000, tool_calls=0),
        used(cost=600_000),
        Exceeded(
            reason="budget_exceeded",
            percent=120,
            limit="cost",
            text="Budget limit reached: $0.60 of $0.50 (120%).",
        ),
    ),
    "tokens": (
        Limits(tokens=100, tool_calls=0),
        used(tokens=100),
        Exceeded(
            reason="budget_exceeded",
            percent=100,
            limit="tokens",
            text="Token limit reached: 100 of 100 tokens (100%).",
        ),
    ),
    "tools": (
        Limits(tool_calls=50),
        used(tool_calls=50),
        Exceeded(
            reason="tool_limit",
            percent=100,
            limit="tool_calls",
            text="Tool call limit reached: 50 of 50 tool calls (100%).",
        ),
    ),
    "rounds": (
        Limits(rounds=3, tool_calls=0),
        used(rounds=4),
        Exceeded(
            reason="round_limit",
            percent=133,
            limit="rounds",
            text="Round limit reached: 4 of 3 rounds (133%).",
        ),
    ),
}


@pytest.mark.parametrize(("limits", "spent", "expected"), REACHED.values(), ids=REACHED)
def test_a_limit_that_is_reached_stops_the_run(limits, spent, expected):  # spec: B4
    assert expected == ask(limits, spent)


def test_the_wall_clock_is_a_limit_too():  # spec: B4
    expected = Exceeded(
        reason="time_limit",
        percent=150,
        limit="time",
        text="Time limit reached: 90 s of 60 s (150%).",
    )

    assert expected == ask(Limits(wall_ms=60_000, tool_calls=0), used(), elapsed_ms=90_000)
    brief = ask(Limits(wall_ms=300, tool_calls=0), used(), elapsed_ms=516)
    assert "Time limit reached: 0.5 s of 0.3 s (172%)." == brief.text


def test_every_reason_is_one_that_a_stop_can_have():  # spec: A4
    reasons = [expected.reason for _, _, expected in REACHED.values()] + ["time_limit"]

    assert [StopReason(reason) for reason in reasons] == reasons


def test_below_every_limit_the_run_goes_on():
    limits = Limits(cost_micros=10, tokens=10, tool_calls=10, rounds=10, wall_ms=10)

    assert None is ask(limits, used(9, 9, 9, 9), elapsed_ms=9)


@pytest.mark.parametrize("none", [None, 0])
def test_none_and_zero_are_no_limit(none):  # spec: B4
    limits = Limits(cost_micros=none, tokens=none, tool_calls=0, rounds=none, wall_ms=none)

    assert None is ask(limits, used(10**9, 10**9, 10**9, 10**9), cap=limits, elapsed_ms=10**9)


def test_fifty_tool_calls_are_the_only_limit_by_default():  # spec: B4
    assert None is ask(Limits(), used(10**9, 10**9, 49, 10**9), elapsed_ms=10**9)
    assert ask(Limits(), used(tool_calls=50)).limit == "tool_calls"


def test_money_is_named_first_then_tokens_tools_rounds_time():
    limits = Limits(cost_micros=1, tokens=1, tool_calls=1, rounds=1, wall_ms=1)
    spent = [used(1, 1, 1, 1), used(0, 1, 1, 1), used(0, 0, 1, 1), used(0, 0, 0, 1), used()]

    named = [ask(limits, each, elapsed_ms=1).limit for each in spent]

    assert named == ["cost", "tokens", "tool_calls", "rounds", "time"]


def test_a_continue_opens_a_window_but_does_not_reset_the_cap():  # spec: B5
    cap = Limits(cost_micros=1_000_000)
    totals = Usage(cost_micros=1_000_000)

    actual = ask(Limits(cost_micros=500_000), Spent(), cap=cap, totals=totals)

    assert (actual.reason, actual.limit, actual.percent) == ("budget_exceeded", "session_cost", 100)


def test_a_cap_on_tokens_counts_the_whole_session():  # spec: B5
    totals = Usage(input_tokens=60, output_tokens=40)

    assert ask(FREE, Spent(), cap=Limits(tokens=100), totals=totals).limit == "session_tokens"


def test_the_tool_calls_of_a_cap_say_nothing_about_a_run():
    assert None is ask(FREE, used(tool_calls=60), cap=Limits(cost_micros=1))


def warned_of(limits, spent, **others):
    return warning(limits, spent, **{"cap": None, "totals": Usage(), "elapsed_ms": 0, **others})


def test_there_is_a_warning_at_eighty_percent_and_not_before():  # spec: B4
    limits = Limits(cost_micros=1000, tool_calls=0)

    assert None is warned_of(limits, used(cost=799))
    assert warned_of(limits, used(cost=800)) == ("cost", 80)


def test_the_warning_is_given_once():  # spec: B4
    assert None is warned_of(Limits(), used(tool_calls=45, warned=True))


def test_the_warning_is_about_the_cap_as_well():
    totals = Usage(cost_micros=90)

    assert warned_of(FREE, used(), cap=Limits(cost_micros=100), totals=totals) == (
        "session_cost",
        90,
    )


def test_the_hint_says_what_was_used_of_what():  # spec: B5
    limits = Limits(cost_micros=500_000, rounds=8)
    spent = used(cost=475_125, tokens=12_345, tool_calls=50, rounds=7)

    expected = (
        "$0.475125 of $0.50 (95%), 12345 tokens, 50 of 50 tool calls (100%), 7 of 8 rounds (87%)"
    )
    assert expected == hint_used(spent, limits)


@pytest.mark.parametrize(
    ("spent", "limit", "expected"),
    [
        (0, 3, 0),
        (1, 3, 33),
        (299, 300, 99),
        (300, 300, 100),
        (-5, 10, 0),
        (5, 0, None),
        (5, None, None),
    ],
)
def test_percent_is_rounded_down_and_never_negative(spent, limit, expected):
    assert expected == percent(spent, limit)


@given(st.integers(1, 10_000), st.lists(st.integers(0, 3_000), max_size=60))
def test_a_run_spends_at_most_its_limit_plus_one_call(limit, costs):  # spec: P7
    limits, spent, last = Limits(cost_micros=limit, tool_calls=0), Spent(), 0
    for cost in costs:
        if ask(limits, spent):
            break
        last = cost
        spent = Spent(usage=add(spent.usage, Usage(cost_micros=cost)))

    assert spent.usage.cost_micros - last < limit


@given(st.integers(1, 5_000), st.lists(st.lists(st.integers(0, 500), max_size=9), max_size=9))
def test_a_session_spends_at_most_its_cap_plus_one_call_over_all_its_runs(cap, runs):  # spec: P7
    totals, last = Usage(), 0
    for costs in runs:
        spent = Spent()
        for cost in costs:
            if ask(FREE, spent, cap=Limits(cost_micros=cap), totals=totals):
                break
            last = cost
            spent = Spent(usage=add(spent.usage, Usage(cost_micros=cost)))
            totals = add(totals, Usage(cost_micros=cost))

    assert totals.cost_micros - last < cap


amounts = st.integers(-5, 10**6)


@given(amounts, amounts, amounts, amounts, amounts)
def test_no_share_is_ever_negative_and_reached_means_a_hundred(cost, tokens, tools, rounds, ms):
    limits = Limits(cost_micros=7, tokens=7, tool_calls=7, rounds=7, wall_ms=7)

    found = ask(limits, used(cost, tokens, tools, rounds), elapsed_ms=ms)

    assert (found is not None) == (max(cost, tokens, tools, rounds, ms) >= 7)
    assert found is None or found.percent >= 100
