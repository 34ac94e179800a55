"""The table of what was really run: agent, version, way, case, result. Printed at the end."""

import pytest

ROWS = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    agent = getattr(item, "callspec", None) and item.callspec.params.get("agent")
    if agent is None or (report.when != "call" and report.passed):
        return
    case = item.originalname.removeprefix("test_").replace("_", " ")
    said = str(report.longrepr[2]).removeprefix("Skipped: ") if report.skipped else ""
    if report.passed and getattr(item, "verdict", ""):
        said = f"passed: {item.verdict}"
    ROWS.append(
        (
            agent,
            getattr(item, "version", ""),
            getattr(item.module, "WAY", "oneshot"),
            case,
            said or report.outcome,
        )
    )


def pytest_terminal_summary(terminalreporter):
    if not ROWS:
        return
    write = terminalreporter.write_line
    write("")
    write("| agent | version | way | case | result |")
    write("|---|---|---|---|---|")
    for row in ROWS:
        write(f"| {' | '.join(row)} |")
