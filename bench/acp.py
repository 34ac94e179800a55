"""What one update of an agent costs us in the transport: CPU, not time, the least of several runs.

python -m bench.acp
"""

import asyncio
import sys
import time

from holdfast.agents.acp.frames import Message
from holdfast.agents.acp.transport import Connection, Gone
from holdfast.agents.acp.updates import parse_update
from holdfast.runtimes.piped import start

TARGET = 4.0  # microseconds
UPDATES, RUNS = 50_000, 7
AGENT = """
import json, sys
text = {"type": "text", "text": "x" * 60}
update = {"sessionUpdate": "agent_message_chunk", "messageId": "m-0123456789", "content": text}
params = {"sessionId": "sess_0123456789", "update": update}
line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\\n"
asked = json.loads(sys.stdin.readline())
for _ in range(%d // 500):
    sys.stdout.buffer.write(line * 500)
sys.stdout.buffer.write(json.dumps({"id": asked["id"], "result": {}}).encode() + b"\\n")
sys.stdout.buffer.flush()
sys.stdin.readline()
"""


async def once() -> float:
    piped = start([sys.executable, "-c", AGENT % UPDATES], cwd="/", env={}, cookie="bench:1")
    seen = 0

    def message(given: Message) -> None:
        nonlocal seen
        seen += parse_update(given.params) is not None

    async def gone(_gone: Gone) -> None:
        return

    connection = Connection(piped, on_message=message, on_gone=gone)
    await connection.open()
    began = time.process_time()
    await connection.request("session/prompt", {}, limit=60)
    spent = time.process_time() - began
    await piped.end()
    connection.close()
    await connection.finished()
    piped.close()
    assert seen == UPDATES
    return spent / UPDATES * 1e6


def main() -> None:
    least = min(asyncio.run(once()) for _ in range(RUNS))
    print(f"one update of an agent, read, ordered and decoded: {least:.2f} us of CPU")
    print(f"target: at most {TARGET:.0f} us: {'kept' if least <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
