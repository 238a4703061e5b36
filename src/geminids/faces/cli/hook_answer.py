"""What happens when an agent calls its hook: a sync is started, and we are gone.

Agents wait for their hooks, and show what they print. So nothing is loaded here that is not needed, click and
subprocess least of all: `answer` is asked before the command line is loaded, and leaves to it what it does
not understand.
"""

import os
import sys
import time

LONGEST_READ = 0.2
"""Seconds that an agent has to give us its words."""
MOST_READ = 1_000_000
"""Bytes of them that we take before we let go."""
PIECE = 65_536
MOST_PIPES = 1_024
"""No process is given more files by the one that starts it."""
NOTHING_TO_SAY = b"{}\n"
"""What all agents understand, and none shows."""


def answer(words: list[str]) -> bool:
    """Do what `geminids keep hook` does with these words behind it, if they are plain ones."""
    options = plain_options(words)
    if options is None:
        return False
    be_called(options)
    return True


def plain_options(words: list[str]) -> list[str] | None:
    """The options for the sync; None if there is anything that the command line should look at."""
    match words:
        case []:
            return []
        case [happened] if happened.startswith("{"):
            # Some agents say what happened in a last word. It is not needed.
            return []
        case ["--sample", *others]:
            taken = ["--sample"]
        case ["--home" | "--data" as option, folder, *others] if folder.strip() and folder[0] != "-":
            taken = [option, folder]
        case _:
            return None
    rest = plain_options(others)
    return None if rest is None else [*taken, *rest]


def be_called(options: list[str]) -> None:
    """Start a sync, hear the agent out, and say that there is nothing to say."""
    for step in (lambda: start_sync(options), heard_out, lambda: os.write(1, NOTHING_TO_SAY)):
        try:
            step()
        except OSError:
            # No process to be had, or nobody who listens: the next hook, or the next list, does the same.
            continue


def start_sync(options: list[str]) -> None:
    """Sync in a process that belongs to nobody: the end of the agent, or of its terminal, is not its end."""
    # -P: no module is taken from the folder that the agent works in.
    line = [sys.executable, "-P", "-m", "geminids.faces.background", *options]
    if sys.platform == "win32":
        _start_on_windows(line)
    elif not os.fork():
        _become(line)


def _become(line: list[str]) -> None:
    """Be another program from now on, with nothing left of the agent's: no session, no terminal, no pipe."""
    try:
        let_go_of_everything()
        os.execv(line[0], line)
    finally:
        os._exit(1)


def let_go_of_everything() -> None:
    """Have no session, no terminal and no file of whoever started this process any more."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
        # If the stream was closed, it may be the very file that was opened, which exec would close.
        os.set_inheritable(stream, True)
    # An agent waits until nobody holds its pipes any more.
    os.closerange(3, MOST_PIPES)


def _start_on_windows(line: list[str]) -> None:
    """The same where there is no fork; it comes after all others and does not end with its parent."""
    import subprocess

    apart = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    behind = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        line, stdin=nowhere, stdout=nowhere, stderr=nowhere, creationflags=apart | behind
    )
    # Nobody waits for it; Python would warn of that.
    process.returncode = 0


def heard_out() -> bytes:
    """What the agent says, so that it need not hear of a broken pipe; but never wait for it long."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    if sys.platform == "win32":
        return _read_beside()
    return _read_until(time.monotonic() + LONGEST_READ)


def _read_until(end: float) -> bytes:
    import select

    said = b""
    while len(said) < MOST_READ and select.select([0], [], [], max(0.0, end - time.monotonic()))[0]:
        piece = os.read(0, min(MOST_READ - len(said), PIECE))
        if not piece:
            break
        said += piece
    return said


def _read_beside() -> bytes:
    """The same where only a thread can stop reading. It ends with the process."""
    from threading import Thread

    said: list[bytes] = []
    listening = Thread(target=lambda: said.append(os.read(0, PIECE)), daemon=True)
    listening.start()
    listening.join(LONGEST_READ)
    return b"".join(said)
