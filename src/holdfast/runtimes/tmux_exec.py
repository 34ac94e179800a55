"""What a tmux pane runs: starts the program that a file describes, waits for it, and writes how it ended.

Run by its path and by nothing else of ours, so that it starts at once. A file, not arguments: tmux takes
few of them, and what a program is given (keys, prompts) is nobody else's to read. The file is gone
before the program begins. How it ended is written by us because tmux now and then forgets it.

    tmux_exec.py GIVEN EXIT
"""

import json
import os
import signal
import sys
from pathlib import Path

NOT_FOUND = 127
# Keys that a terminal turns into signals are for the program alone.
FOR_THE_PROGRAM = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)


def main() -> int:
    given, ended = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = json.loads(given.read_text("utf-8"))
    given.unlink()
    env = {**wanted["env"], "TERM": os.environ.get("TERM", "dumb")}
    for number in FOR_THE_PROGRAM:
        signal.signal(number, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        become(wanted["argv"], wanted["cwd"], env)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    draft = ended.with_suffix(".draft")
    draft.write_text(str(code))
    draft.replace(ended)
    return code if code >= 0 else 128 - code


def become(argv: list[str], cwd: str, env: dict[str, str]) -> None:
    try:
        for number in FOR_THE_PROGRAM:
            signal.signal(number, signal.SIG_DFL)
        os.chdir(cwd)
        os.execvpe(argv[0], argv, env)  # noqa: S606  no shell, on purpose
    except OSError as error:
        print(f"{error.filename or argv[0]}: {error.strerror}", file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(NOT_FOUND)


if __name__ == "__main__":
    sys.exit(main())
