"""Tells nobody but the log: the page and the command line show what is open by themselves."""

import logging

from holdfast.core.effects import NotifyPerson
from holdfast.core.session import Session
from holdfast.ports import Errand

LOG = logging.getLogger(__name__)


class LogNotifier:
    async def tell(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, NotifyPerson)
        LOG.info("session %s: %s: %s", session.id, effect.kind, effect.text)
