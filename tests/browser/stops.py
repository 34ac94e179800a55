"""A session for each reason a run can stop for: real runs, each really stopped by that."""

from tests.browser.house import END, call, held, let_go, words

LIST = {"text": "Looking.", "tool_calls": [call("list")], "usage": {"input": 60, "output": 40}}

# reason: what its strip begins with, its tint (SPEC K2)
STOPS = {
    "cancelled": ("Agent stopped by user", "gray"),
    "budget_exceeded": ("Budget limit reached (100% used)", "amber"),
    "tool_limit": ("Tool call limit reached", "amber"),
    "round_limit": ("Round limit reached", "amber"),
    "time_limit": ("Time limit reached", "amber"),
    "rate_limited": ("Rate limited until ", "amber"),
    "error": ("Something went wrong", "red"),
    "interrupted": ("Session was interrupted. Resume where you left off?", "gray"),
}


def stop(house, reason):
    """The id of a session that has just stopped for this reason."""
    if reason in RUNS:
        rows, limits = RUNS[reason]
        id = house.create(*rows, title=reason, limits=limits)
        house.stopped(id)
        return id
    reply = held(house.folder, words(600), 100)
    if reason == "interrupted":
        id = house.interrupted(reply, END, title=reason)
    else:
        id = cancelled(house, reply, END, title=reason)
    let_go(reply)
    return id


def cancelled(house, *rows, **wanted):
    id = house.create(*rows, **wanted)
    house.streaming(id)
    house.ask("POST", f"/api/sessions/{id}/cancel", {})
    house.stopped(id)
    return id


RUNS = {
    "budget_exceeded": ((LIST, END), {"budget_tokens": 100}),
    "tool_limit": ((LIST, END), {"max_tool_calls": 1}),
    "round_limit": ((LIST, END), {"max_rounds": 1}),
    "time_limit": (({**LIST, "text": words(10), "chunk_ms": 50}, END), {"max_time": 0.3}),
    "rate_limited": (({"fail": {"status": 429, "retry_after": 3600, "times": 1}}, END), {}),
    "error": (({"fail": {"status": 400, "times": 1}}, END), {}),
}
