"""What an agent's process may know of the user's environment.

Rule 1: an allow-list: what every program needs, and what the profile names. A key of another provider
is nobody else's business.
Rule 2: what the user's own shell lent for this session goes before the daemon's, and both go before
the profile's defaults.
"""

from collections.abc import Mapping

from holdfast.agents.profiles.profile import Profile

COMMON = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TERM",
        "COLORTERM",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "SSH_AUTH_SOCK",
    ]
)
PREFIXES = ("LC_", "XDG_")


def environment(
    profile: Profile, ours: Mapping[str, str], lent: Mapping[str, str]
) -> dict[str, str]:
    everything = {**ours, **lent}
    allowed = {
        name: value
        for name, value in everything.items()
        if name in COMMON or name.startswith(PREFIXES) or profile.may_have(name)
    }
    return {**profile.env, **allowed}
