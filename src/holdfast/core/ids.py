"""The names of things. Plain strings and integers, distinct to the type checker."""

from typing import NewType

SessionId = NewType("SessionId", str)  # 12 lower-case hex digits
InputId = NewType("InputId", str)  # minted by the client, so that a retry is recognised
CommandId = NewType("CommandId", str)  # the same, of a command that is not a prompt
CallId = NewType("CallId", str)  # the model's or the agent's own name for a tool call
DecisionId = NewType("DecisionId", str)
TimerId = NewType("TimerId", str)
BlobId = NewType("BlobId", str)  # sha256 of the content
Token = NewType("Token", str)  # an agent's own handle on its memory

RunNumber = NewType("RunNumber", int)  # from 1, in the session
RoundNumber = NewType("RoundNumber", int)  # from 1, over the whole session
LaunchNumber = NewType("LaunchNumber", int)  # from 1; news of an earlier one is out of date
Seq = NewType("Seq", int)  # from 1; the place of an event in its session's journal
Generation = NewType("Generation", int)  # of a lease; fences the previous owner
Millis = NewType("Millis", int)  # since 1970, UTC
