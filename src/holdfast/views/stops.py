"""A stop as clients read it (SPEC A4): the journal's, with moments as text."""

from holdfast.core.session import Stop
from holdfast.core.value import Value
from holdfast.views.moments import rfc3339


class StopOut(Value, omit_defaults=False, rename={"error": "class"}):
    reason: str
    error: str | None
    message: str
    phase: str
    round: int
    at: str
    resumes_at: str | None
    percent: int | None
    evidence: dict[str, object]
    fingerprint: str | None


def stop_out(stop: Stop | None) -> StopOut | None:
    if stop is None:
        return None
    evidence = stop.evidence
    seen = {name: getattr(evidence, name) for name in evidence.__struct_fields__}
    return StopOut(
        reason=stop.reason,
        error=stop.error,
        message=stop.message,
        phase=stop.phase,
        round=stop.round,
        at=rfc3339(stop.at),
        resumes_at=rfc3339(stop.resumes_at) if stop.resumes_at is not None else None,
        percent=stop.percent,
        evidence={name: value for name, value in seen.items() if value not in (None, False)},
        fingerprint=stop.fingerprint,
    )
