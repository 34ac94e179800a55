"""Every event, effect and state has its line in every table, and what is generated is current."""

# spec: A2, A3, C1

from typing import get_args

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.decide import ALLOWS, INSTEAD
from holdfast.core.evolve import CHANGES
from holdfast.core.identity import NAMES
from holdfast.core.react import OWES, QUIET
from holdfast.core.session import State
from holdfast.engine.perform import performers
from holdfast.journal.codec import TAGS, UPCASTERS, VERSIONS
from tests.core.stories import reach
from tools import diagram

EVENTS = set(get_args(e.Event))
EFFECTS = set(get_args(f.Effect))
COMMANDS = set(get_args(i.Command))


def test_every_event_changes_a_session_in_one_place():
    assert EVENTS == set(CHANGES)


def test_every_event_owes_something_or_is_named_as_quiet():
    assert EVENTS == set(OWES) | QUIET
    assert set() == set(OWES) & QUIET


def test_every_event_and_effect_has_a_tag_of_its_own():
    assert EVENTS | EFFECTS == set(TAGS)
    assert len(TAGS) == len(set(TAGS.values()))


def test_every_natural_name_is_of_an_event():
    assert set(NAMES) <= EVENTS


def test_every_effect_has_a_performer():
    class Port:
        def __getattr__(self, name):
            return name

    port = Port()

    assert EFFECTS == set(performers(port, port, port, wake="w", fork="f", erase="e"))


def test_every_earlier_version_of_a_body_can_be_read():
    wanted = {(tag, old) for tag, new in VERSIONS.items() for old in range(1, new)}

    assert wanted == set(UPCASTERS)


def test_every_state_says_what_may_be_done_in_it():
    assert set(State) == set(ALLOWS)
    assert {i.OpenSession, i.AdoptConversation} == COMMANDS - {
        c for allowed in ALLOWS.values() for c in allowed
    }
    assert set(INSTEAD) <= set(State)


def test_the_diagram_is_what_the_tables_say():
    assert diagram.text() == diagram.TARGET.read_text()


def test_the_arrows_of_the_diagram_are_the_ones_that_can_be_walked():
    walked = {(a, b) for a in State for b in reach(a) if a != b}

    assert walked == {(a, b) for a, b, _why in diagram.MOVES}
