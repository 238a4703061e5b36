"""What is known of the records of any agent, for those that offer nothing more: nothing, so all is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geminids.core import agents
from geminids.core.agents.records import Belongs, NativeFile, Natives, Recorder, Translation
from geminids.core.model import Session


def recorder_of(agent: str) -> Recorder:
    """What an agent offers for records of its sessions, else the plainest there is."""
    return agents.recorder(agent) or PlainRecorder(agent)


def agent_called(program: str) -> str | None:
    """The agent that other tools call like this in such records; None if none is known by it."""
    return next((name for name in agents.available() if recorder_of(name).program == program), None)


def always(_value: Any) -> bool:
    """Every record is of the session."""
    return True


def never(_value: Any) -> bool:
    """No record of the file is."""
    return False


class PlainRecorder:
    """The records of an agent that nothing is known of."""

    table: Any = None

    def __init__(self, program: str) -> None:
        self.program = program

    def identity(self, record: dict[str, Any]) -> str | None:
        """None: no record is taken for a version of another."""
        return None

    def belonging(self, session: Session, file: NativeFile) -> Belongs:
        """All that is in the session's files is the session's."""
        return always

    def release(self, session: Session, natives: Natives, others: Sequence[Any]) -> str | None:
        """None: nobody knows where it would stand."""
        return None

    def translation(self, session: Session, natives: Natives | None) -> Translation | None:
        """None: other tools know nothing of its files."""
        return None
