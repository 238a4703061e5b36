"""What the Gemini CLI that is installed can do, told by its release. Checked with releases 0.24 to 0.61."""

from __future__ import annotations

import msgspec

from geminids.agents.gemini.custody.installed import Installed, Release

_SINCE_CLEANING = (0, 9, 0)
_SINCE_RESUME = (0, 15, 0)
_SINCE_NOTICES_HIDDEN = (0, 20, 0)
_SINCE_HOME_VARIABLE = (0, 25, 0)
_SINCE_COMMAND_AT_START = (0, 27, 0)
_SINCE_SLUGS = (0, 29, 0)
_SINCE_SUBAGENTS_HIDDEN = (0, 31, 0)
_SINCE_CLEANING_UNASKED = (0, 33, 0)
_SINCE_DOCUMENTS_TOGETHER = (0, 36, 0)
_SINCE_SUBAGENTS_WITH_PARENT = (0, 37, 0)
_SINCE_LOGS = (0, 39, 0)
_SINCE_DELETED_TOGETHER = (0, 42, 0)
_SINCE_SESSION_FILE = (0, 43, 0)
_SINCE_DATED_BY_DISK = (0, 43, 0)
_SINCE_CHECKPOINTS = (0, 44, 0)
_SINCE_RESUMABLE = (0, 47, 0)
_SINCE_SYSTEM_CHECKED = (0, 59, 0)
_DELETE_EXPIRED = ((0, 33, 0), (0, 36, 0))
_DELETE_RESUMED = (((0, 42, 0), (0, 44, 0)), ((0, 47, 0), (0, 62, 0)))
_FIRST_UNTRIED = (0, 62, 0)


class Program(msgspec.Struct, frozen=True):
    """The Gemini CLI of this machine. One whose release is not known is taken for a new one."""

    installed: Installed | None

    @property
    def release(self) -> Release | None:
        """Its release; None if it is not known, or nothing is installed."""
        return self.installed.release if self.installed else None

    @property
    def name(self) -> str:
        """What to call it."""
        return self.installed.name if self.installed else "Gemini CLI"

    @property
    def cleans(self) -> bool:
        """Whether it deletes sessions by itself where its settings say so."""
        return not self._is_before(_SINCE_CLEANING)

    @property
    def cleans_unasked(self) -> bool:
        """Whether it does so if no settings say anything."""
        return not self._is_before(_SINCE_CLEANING_UNASKED)

    @property
    def names_folders(self) -> bool:
        """Whether it calls the folder of a project by a slug, and not by the hash of its path."""
        return not self._is_before(_SINCE_SLUGS)

    @property
    def can_resume(self) -> bool:
        """Whether there is `--resume`."""
        return not self._is_before(_SINCE_RESUME)

    @property
    def heeds_home_variable(self) -> bool:
        """Whether it can be told to use another home than the user's."""
        return not self._is_before(_SINCE_HOME_VARIABLE)

    @property
    def loads_chats_at_start(self) -> bool:
        """Whether it is known to run a command that it is started with; else the model might be asked."""
        is_known = self.installed is None or self.release is not None
        return is_known and not self._is_before(_SINCE_COMMAND_AT_START)

    @property
    def hides_notices(self) -> bool:
        """Whether it hides sessions in which nobody says anything."""
        return not self._is_before(_SINCE_NOTICES_HIDDEN)

    @property
    def hides_subagents(self) -> bool:
        """Whether it tells the files of subagents from those of their parents."""
        return not self._is_before(_SINCE_SUBAGENTS_HIDDEN)

    @property
    def reads_logs(self) -> bool:
        """Whether it reads .jsonl files."""
        return not self._is_before(_SINCE_LOGS)

    @property
    def replays_checkpoints(self) -> bool:
        """Whether it knows that a checkpoint takes the place of what was before it."""
        return not self._is_before(_SINCE_CHECKPOINTS)

    @property
    def dates_by_disk(self) -> bool:
        """Whether it takes a document for a session that does not say when it was used."""
        return not self._is_before(_SINCE_DATED_BY_DISK)

    @property
    def deletes_subagents(self) -> bool:
        """Whether the folder of a session's subagents goes with it."""
        return not self._is_before(_SINCE_SUBAGENTS_WITH_PARENT)

    @property
    def deletes_documents_together(self) -> bool:
        """Whether a .json file that it deletes takes others with the same beginning of an id with it."""
        return not self._is_before(_SINCE_DOCUMENTS_TOGETHER)

    @property
    def deletes_by_start_of_id(self) -> bool:
        """Whether a file that it deletes takes all others with the same beginning of an id with it."""
        return not self._is_before(_SINCE_DELETED_TOGETHER)

    @property
    def takes_session_files(self) -> bool:
        """Whether there is `--session-file`."""
        return not self._is_before(_SINCE_SESSION_FILE)

    @property
    def wants_resumable_content(self) -> bool:
        """Whether it hides sessions that hold commands and nothing else."""
        return not self._is_before(_SINCE_RESUMABLE)

    @property
    def deletes_expired_while_resuming(self) -> bool:
        """Whether it deletes a session that rested too long even when it is told to resume it."""
        return self._is_within(*_DELETE_EXPIRED)

    @property
    def deletes_resumed(self) -> bool:
        """Whether a later start deletes what was resumed."""
        return any(self._is_within(*releases) for releases in _DELETE_RESUMED)

    @property
    def checks_system_settings(self) -> bool:
        """Whether it heeds settings of the whole system only if nobody else could have written them."""
        return not self._is_before(_SINCE_SYSTEM_CHECKED)

    @property
    def corrects_settings(self) -> bool:
        """Whether it understands "false" where false is meant, and "5" for 5."""
        return not self._is_before(_SINCE_LOGS)

    @property
    def is_untried(self) -> bool:
        """Whether it is newer than all releases that were tried."""
        return not self._is_before(_FIRST_UNTRIED)

    def _is_before(self, release: Release) -> bool:
        return self.release is not None and self.release < release

    def _is_within(self, first: Release, end: Release) -> bool:
        return self.release is not None and first <= self.release < end
