"""Which providers there are, what each needs, and which model is meant when none is named (SPEC B1, B13).

Nothing heavy is loaded here: a name is judged before anything is started. What is not in the table but
known to the library is tried; then its own rules for keys apply.
"""

import difflib
from collections.abc import Mapping
from importlib.util import find_spec

from holdfast.core.value import Value

OPENAI = "openai"


class Provider(Value):
    """`keys` and `urls` are variables; the first that is set counts."""

    name: str
    keys: tuple[str, ...]
    urls: tuple[str, ...]
    model: str = ""  # what is used when no model is named; empty: it is never chosen by itself
    needs: str = OPENAI  # the package that speaks to it
    extra: str = ""  # how that package is asked for
    home: str = ""  # where a server of one's own is; it needs no key
    keyless: bool = False  # it has its own ways to know us


def _like_openai(name: str, model: str = "", *, stem: str = "", home: str = "") -> Provider:
    stem = stem or name.upper()
    return Provider(
        name=name,
        keys=(f"{stem}_API_KEY",),
        urls=(f"{stem}_BASE_URL",),
        model=model,
        home=home,
    )


# In this order a provider is looked for whose key is there.
PROVIDERS: tuple[Provider, ...] = (
    Provider(
        name="anthropic",
        keys=("ANTHROPIC_API_KEY",),
        urls=("ANTHROPIC_BASE_URL",),
        model="claude-sonnet-5-5",
        needs="anthropic",
    ),
    _like_openai("openai", "gpt-6.1-sol"),  # the Responses API
    Provider(
        name="google",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        urls=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_BASE_URL"),
        model="gemini-3.8-flash",
        needs="google.genai",
    ),
    _like_openai("openrouter", "anthropic/claude-sonnet-5.5"),
    _like_openai("deepseek", "deepseek-v4-pro"),
    _like_openai("moonshotai", "kimi-k3.1-pro"),
    _like_openai("zai", "glm-5.3"),
    _like_openai("openai-chat", stem="OPENAI"),  # the older API, which others speak as well
    _like_openai("openai-responses", stem="OPENAI"),
    _like_openai("together"),
    _like_openai("fireworks"),
    _like_openai("cerebras"),
    _like_openai("sambanova"),
    _like_openai("nebius"),
    _like_openai("alibaba"),
    _like_openai("ollama", home="http://localhost:11434/v1"),
    _like_openai("vllm", home="http://localhost:8000/v1"),
    Provider(
        name="groq",
        keys=("GROQ_API_KEY",),
        urls=("GROQ_BASE_URL",),
        needs="groq",
        extra="groq",
    ),
    Provider(
        name="mistral",
        keys=("MISTRAL_API_KEY",),
        urls=("MISTRAL_BASE_URL",),
        needs="mistralai",
        extra="mistral",
    ),
    Provider(name="bedrock", keys=(), urls=(), needs="boto3", extra="bedrock", keyless=True),
    Provider(name="google-cloud", keys=(), urls=(), needs="google.genai", keyless=True),
)
# Those that the library knows as well. It may want another package or more than a key, and says so.
OTHERS = (
    "azure",
    "azure-responses",
    "bedrock-mantle",
    "cohere",
    "crusoe",
    "github",
    "github-copilot",
    "heroku",
    "huggingface",
    "litellm",
    "meta",
    "ovhcloud",
    "snowflake",
    "system-one",
    "vercel",
    "xai",
)
_BY_NAME = {provider.name: provider for provider in PROVIDERS}
_BY_NAME |= {
    name: Provider(
        name=name,
        keys=(f"{name.upper().replace('-', '_')}_API_KEY",),
        urls=(f"{name.upper().replace('-', '_')}_BASE_URL",),
        needs="pydantic_ai",
        keyless=True,
    )
    for name in OTHERS
}
_ALIASES = {"gemini": "google", "claude": "anthropic", "google-gla": "google", "gpt": "openai"}
_STARTS = {"claude": "anthropic", "gpt": "openai", "o": "openai", "gemini": "google"}


def provider(name: str) -> Provider | None:
    """Of a model's whole name, or of a provider's."""
    return _BY_NAME.get(name.partition(":")[0])


def first(variables: tuple[str, ...], environ: Mapping[str, str]) -> str:
    return next((environ[name] for name in variables if environ.get(name)), "")


def address(provider: Provider, environ: Mapping[str, str]) -> str:
    """Empty: the provider's own."""
    return first(provider.urls, environ) or provider.home


def no_key(name: str, environ: Mapping[str, str]) -> str | None:
    """Said before anything is sent. A server under an address of one's own may do without a key, if it
    speaks like OpenAI: many of them are somebody's own machine."""
    found = provider(name)
    if found is None or found.keyless or first(found.keys, environ):
        return None
    if found.needs == OPENAI and address(found, environ):
        return None
    return f"There is no key for {found.name}: set {found.keys[0]}, or put it into the env file."


def key_hint(name: str) -> str:
    found = provider(name)
    return f" Check {found.keys[0]}." if found is not None and found.keys else ""


def is_installed(provider: Provider) -> bool:
    package, _, inner = provider.needs.partition(".")
    if find_spec(package) is None:
        return False
    return not inner or find_spec(provider.needs) is not None


def problem(name: str) -> str | None:
    """What is wrong with a model's name, as far as the name alone tells. None: nothing."""
    prefix, colon, rest = name.partition(":")
    if not colon:
        return f"{name!r} does not say whose model it is.{_meant(_whose(name))}"
    found = _BY_NAME.get(prefix)
    if found is None:
        near = [_ALIASES[prefix]] if prefix in _ALIASES else _near(prefix, list(_BY_NAME))
        return f"There is no provider {prefix!r}.{_meant(f'{near[0]}:{rest}' if near else '')}"
    if not rest.strip():
        return f"{name!r} names no model.{_meant(f'{prefix}:{found.model}' if found.model else '')}"
    if not is_installed(found):
        wanted = f"pydantic-ai-slim[{found.extra}]" if found.extra else found.needs
        return (
            f"The provider {prefix} needs a package that is not installed: pip install '{wanted}'."
        )
    return None


def with_key(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Providers that could be asked now."""
    return tuple(p.name for p in PROVIDERS if first(p.keys, environ) and is_installed(p))


def usual_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The model of each provider with a key, in the order in which they are looked for."""
    there = frozenset(with_key(environ))
    return tuple(f"{p.name}:{p.model}" for p in PROVIDERS if p.model and p.name in there)


def default_model(environ: Mapping[str, str]) -> str:
    """Of the first provider with a key; empty: there is none."""
    return next(iter(usual_models(environ)), "")


def no_model() -> str:
    """No model was named, none is configured, and no key was found."""
    names = [f"{p.name} ({p.keys[0]})" for p in PROVIDERS if p.model and is_installed(p)]
    return (
        "No model was named, none is configured, and no provider's key was found. "
        f"Installed: {', '.join(names)}."
    )


def misspelt(name: str, known: tuple[str, ...]) -> str | None:
    """Refuses a name that nobody knows and that is a known one but for a letter or two. Other numbers
    mean another version, which may well be younger than the library's list: that is tried."""
    if name in known:
        return None
    near = [k for k in _near(name, list(known), cutoff=0.9) if _numbers(k) == _numbers(name)]
    if not near:
        return None
    return f"There is no model {name!r} that this version knows.{_meant(', '.join(near))}"


def _numbers(name: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in name).split()


def _whose(name: str) -> str:
    for start, owner in _STARTS.items():
        rest = name.removeprefix(start)
        if rest != name and rest[:1] in "-0123456789" and rest:
            return f"{owner}:{name}"
    if name in _BY_NAME and _BY_NAME[name].model:
        return f"{name}:{_BY_NAME[name].model}"
    return ""


def _near(name: str, known: list[str], *, cutoff: float = 0.6) -> list[str]:
    return difflib.get_close_matches(name, known, n=3, cutoff=cutoff)


def _meant(guess: str) -> str:
    if guess:
        return f" Did you mean {guess}?"
    return f" Write provider:model; providers: {', '.join(_BY_NAME)}."
