"""`atif`: a session as a trajectory in the Agent Trajectory Interchange Format, version 1.7.

    {"schema_version": "ATIF-v1.7", "session_id": …, "trajectory_id": …, "agent": {…}, "steps": [
        {"step_id": 1, "source": "user", "message": "…", "timestamp": …, "extra": {…}},
        {"step_id": 2, "source": "agent", "message": "…", "model_name": …, "reasoning_content": …,
         "tool_calls": […], "observation": {"results": […]}, "metrics": {…}, "extra": {…}}, …],
     "final_metrics": {…}, "extra": {…}}

Every message is a step. What a human or, to a subagent, another session said is of the user; what the
program around the model said (notices, context, words in somebody's name) is of the system. Results of
tools stand with the step that called them. Turns that the agent no longer sees are steps, too, and have
their `state` in `extra`: whoever trains on trajectories can leave them out. Turns taken over from another
session are copied context; what they used is counted there.

Words of one file cannot carry pictures, so these are only named. A subagent's session is a trajectory of
its own: the call has its `child_trajectory_id`, the trajectory a `parent_trajectory_id`, both in `extra`.
The format wants the version of the agent, which sessions do not tell, and at least one step: where nothing
was said, one says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from geminids.core.model import (
    FileChange,
    Message,
    Origin,
    Role,
    Session,
    State,
    Thought,
    ToolCall,
    Unrecorded,
    Usage,
)
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.export.dialogue import (
    completion_tokens,
    each_call_once,
    known,
    origins_of,
    prompt_tokens,
    reasoning_of,
    result_of,
    words_of,
)
from geminids.sharing.transcript.call_summary import output_text
from geminids.sharing.transcript.entries import PROMPT_ORIGINS, task_of
from geminids.sharing.transcript.visible import visible_session

VERSION = "ATIF-v1.7"
UNKNOWN = "unknown"
NOTHING_RECORDED = "No message of this session was recorded."
NOTHING_TOLD = "This level of detail leaves out the whole session."
OTHER_TOTALS = "final_metrics counts the whole session, including requests without a step here."


class Atif(PlainFormat):
    """One trajectory a file."""

    name = "atif"
    title = "ATIF trajectory"
    summary = "A trajectory for training and evaluation tools (Agent Trajectory Interchange Format)."
    suffix = ".json"
    level = "everything"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The trajectory."""
        for session in sessions:
            yield encode_harmless(_trajectory(session, manner)) + b"\n"


def _trajectory(session: Session, manner: Manner) -> dict[str, Any]:
    messages = visible_session(each_call_once(session), manner.detail).messages
    task = task_of(session)
    steps = [_step(message, task) for message in messages]
    if not steps:
        nothing = NOTHING_TOLD if session.messages else NOTHING_RECORDED
        steps = [{"source": "system", "message": nothing}]
    return known(
        schema_version=VERSION,
        session_id=session.native_id,
        trajectory_id=session.id,
        agent=known(name=session.agent, version=UNKNOWN, model_name=next(iter(session.models), None)),
        steps=[{"step_id": number} | step for number, step in enumerate(steps, start=1)],
        notes=None if _counted(messages) == _metrics(session.usage) else OTHER_TOTALS,
        final_metrics=_final_metrics(session.usage, len(steps)),
        extra=_about(session, manner),
    )


def _about(session: Session, manner: Manner) -> dict[str, Any]:
    project = session.project
    return known(
        kind=session.kind,
        parent_trajectory_id=session.parent_id,
        title=manner.names.get(session.id) or session.title,
        summary=session.summary,
        status=session.status,
        started_at=session.started_at,
        ended_at=session.ended_at,
        models=session.models,
        project=known(path=project.path, hash=project.hash, slug=project.slug),
        branch=session.branch,
        directories=session.directories,
        reported_metrics=_metrics(session.reported),
        unrecorded=[_unrecorded(missing) for missing in session.unrecorded],
    )


def _unrecorded(missing: Unrecorded) -> dict[str, Any]:
    """Requests that no step tells of, because the agent did not write them down."""
    used = _metrics(missing.usage)
    return known(what=missing.what, reason=missing.reason, requests=missing.requests, metrics=used)


def _step(message: Message, task: Message | None) -> dict[str, Any]:
    step = {
        "source": _source(message, task),
        "message": words_of(message.parts),
    } | known(timestamp=message.at, is_copied_context=message.imported or None)
    if message.role is Role.ASSISTANT:
        step |= _doing(message)
    return step | {"extra": _about_message(message)}


def _source(message: Message, task: Message | None) -> str:
    """Who made a step."""
    if message.role is Role.ASSISTANT:
        return "agent"
    is_task = task is not None and message.source == task.source
    return "user" if message.origin in PROMPT_ORIGINS or is_task else "system"


def _doing(message: Message) -> dict[str, Any]:
    """What only agents do: think, call, use tokens."""
    results = [result for call in message.tool_calls if (result := _result(call))]
    return known(
        model_name=message.model,
        llm_call_count=_requests(message),
        reasoning_content=reasoning_of(message.parts),
        tool_calls=[_call(call) for call in message.tool_calls],
        observation=known(results=results),
        metrics=_metrics(message.usage) if _counts(message) else None,
    )


def _requests(message: Message) -> int | None:
    """How often a model was asked; words that the agent said in its name took no request."""
    is_asked = message.origin not in {Origin.SYNTHETIC, Origin.COMMAND}
    if not is_asked and not message.usage and not reasoning_of(message.parts):
        return 0
    return (message.usage.requests or None) if message.usage else None


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "tool_call_id": call.call_id,
        "function_name": call.name,
        "arguments": call.arguments,
        "extra": known(
            kind=call.kind,
            status=call.status,
            native_status=call.native_status if call.native_status != call.status else None,
            exit_code=call.exit_code,
            at=call.at,
            display_name=call.display_name,
            description=call.description,
            child_trajectory_id=call.child_id,
            changes=[_change(change) for change in call.changes],
            other=call.other,
        ),
    }


def _change(change: FileChange) -> dict[str, Any]:
    """A change of a file; the whole texts only where no diff tells them."""
    fields = msgspec.structs.asdict(change)
    if change.diff:
        del fields["before"], fields["after"]
    return known(**fields)


def _result(call: ToolCall) -> dict[str, Any] | None:
    """What the model got, and beside it what the human saw or what was too long for the session."""
    content = result_of(call)
    if content is None:
        return None
    shown = output_text(call)
    moved = call.full_output
    extra = known(
        shown=shown if shown != content else None,
        moved_to=known(path=moved.path, size=moved.size, left_out=moved.left_out) if moved else None,
    )
    return {"source_call_id": call.call_id, "content": content} | known(extra=extra)


def _about_message(message: Message) -> dict[str, Any]:
    return known(
        message_id=message.id,
        request_id=message.request_id,
        origin=message.origin,
        origins=origins_of(message),
        state=message.state if message.state is not State.CURRENT else None,
        level=message.level,
        thoughts=_about_thoughts(message),
        copied_metrics=None if _counts(message) else _metrics(message.usage),
        request_metrics=_metrics(message.usage) if _is_of_program(message) else None,
    )


def _about_thoughts(message: Message) -> list[dict[str, Any]]:
    """Subjects and times of thoughts, whose words are the reasoning."""
    about = [known(subject=part.subject, at=part.at) for part in message.parts if isinstance(part, Thought)]
    return about if any(about) else []


def _is_of_program(message: Message) -> bool:
    """Whether the agent made a request for itself, as for a summary: only steps of agents have metrics."""
    return message.role is not Role.ASSISTANT and _counts(message)


def _counts(message: Message) -> bool:
    """Whether what a message used counts here: what was copied is counted where it comes from."""
    return not message.imported


def _counted(messages: Iterable[Message]) -> dict[str, Any]:
    """The metrics of all steps together."""
    return _metrics(Usage.sum(message.usage for message in messages if message.usage and _counts(message)))


def _metrics(usage: Usage | None) -> dict[str, Any]:
    """Tokens of a request. Thoughts are in the completion, and prompts for tools in the prompt.

    That is where the API counts them, and what the format's own words say: a prompt is all input, with the
    cached part of it, and a completion all that was generated.
    """
    if usage is None:
        return {}
    return known(
        prompt_tokens=prompt_tokens(usage),
        completion_tokens=completion_tokens(usage),
        cached_tokens=usage.cached,
        extra=known(
            reasoning_tokens=usage.thoughts,
            tool_prompt_tokens=usage.tool,
            cache_creation_input_tokens=usage.cache_write,
            cache_creation_hour_input_tokens=usage.cache_write_hour,
            reported_total_tokens=usage.reported_total,
        ),
    )


def _final_metrics(usage: Usage, steps: int) -> dict[str, Any]:
    metrics = _metrics(usage)
    extra = known(requests=usage.requests or None) | metrics.pop("extra", {})
    return {f"total_{name}": number for name, number in metrics.items()} | known(
        total_steps=steps, extra=extra
    )
