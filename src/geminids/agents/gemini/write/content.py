"""Contents of messages in the shape of Gemini's API: a list of parts.

What our model keeps apart (the human's words, files put in for `@path`, commands and what they printed, hints
typed while the model worked) is put together again as Gemini CLI does it, so that its reading and ours find
the same in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from geminids.agents.gemini.phrases import FILES_BEGIN, FILES_END
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import AnyPart, Attachment, FileReference, Origin, ResultPart, Text, Unrecognised

Piece = dict[str, Any]
"""A part as the API spells it."""


_OTHER_PIECES = frozenset({"inlineData", "fileData", "executableCode", "codeExecutionResult"})
"""What the API takes besides words; a part with nothing that it knows makes it refuse the whole request."""
_ANY_MIME_TYPE = "application/octet-stream"
_HOOK_IN_FRONT = lazy_pattern(r"\s*<hook_context>.*</hook_context>\n\n", re.DOTALL)
_STEERING = lazy_pattern(r"User (?:steering update|hints):")
_OPEN_INPUT = lazy_pattern(r"<user_input>\n?$")


def piece_of(part: AnyPart) -> Piece | None:
    """One part in the shape of the API; None for what has none."""
    match part:
        case Text(text=text):
            return {"text": text}
        case Attachment(data=str(data), mime_type=mime_type):
            return {"inlineData": {"mimeType": mime_type or _ANY_MIME_TYPE, "data": data}}
        case Attachment(uri=str(uri), mime_type=mime_type):
            return {"fileData": {"fileUri": uri} | ({"mimeType": mime_type} if mime_type else {})}
        case Unrecognised(raw=dict(raw)) if not _OTHER_PIECES.isdisjoint(raw):
            return raw
        case _:
            return None


def pieces_of(parts: Iterable[AnyPart]) -> list[Piece]:
    """Parts that are neither calls nor answers; an empty text is none."""
    return [piece for piece in map(piece_of, parts) if piece is not None and piece != {"text": ""}]


def response_of(parts: Sequence[ResultPart], *, failed: bool) -> tuple[dict[str, Any], list[Piece]]:
    """What a tool answered: the `response`, and what stands beside it, pictures above all."""
    response: dict[str, Any] = {}
    left = [part for part in parts if not _is_placeholder(part)]
    while left and (taken := _taken(left, response, failed=failed)):
        del left[:taken]
    for part in left:
        if isinstance(part, Unrecognised) and piece_of(part) is None:
            _keep_field(part.raw, response)
    return response, [piece for part in left if (piece := piece_of(part)) is not None]


def _taken(left: list[ResultPart], response: dict[str, Any], *, failed: bool) -> int:
    """Put the first of some parts into a response; tells how many of them it took."""
    match left[0]:
        case Unrecognised(raw=raw) as part if piece_of(part) is None:
            _keep_field(raw, response)
            return 1
        case Text() if response.keys().isdisjoint({"output", "error", "content"}):
            words = [part.text for part in _leading_texts(left)]
            response.update(_worded(words, failed=failed))
            return len(words)
        case _:
            return 0


def _keep_field(raw: object, response: dict[str, Any]) -> None:
    """Keep what could not be named as a field of an answer, under its own name if it has one."""
    match raw:
        case dict() if len(raw) == 1 and _is_free(*next(iter(raw.items())), response):
            response.update(raw)
        case _:
            response[_free_name("result", response)] = raw


def _is_free(name: str, value: object, response: dict[str, Any]) -> bool:
    """Whether a field of an answer can be written as it is and is read as that field again."""
    is_words = name in {"output", "error"} and isinstance(value, str)
    is_list = name == "content" and isinstance(value, list)
    return name not in response and name not in _OTHER_PIECES and not is_words and not is_list


def _worded(words: list[str], *, failed: bool) -> dict[str, Any]:
    """The words of an answer. A command that was stopped has an output and an error."""
    match words:
        case [one]:
            return {"error" if failed else "output": one}
        case [output, error] if failed:
            return {"output": output, "error": error}
        case _:
            return {"content": [{"type": "text", "text": text} for text in words]}


def _leading_texts(parts: Iterable[ResultPart]) -> Iterator[Text]:
    for part in parts:
        if not isinstance(part, Text):
            return
        yield part


def _free_name(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    number = 1
    while (spelled := name if number == 1 else f"{name}{number}") in known:
        number += 1
    return spelled


def unknown_fields(parts: Iterable[AnyPart], known: Callable[[str], bool]) -> dict[str, Any]:
    """What could not be named and is no part of the API: fields of the message, which the agent ignores."""
    fields: dict[str, Any] = {}
    nameless: list[Any] = []
    for part in parts:
        if not isinstance(part, Unrecognised) or piece_of(part) is not None:
            continue
        raw = part.raw
        if isinstance(raw, dict) and not any(known(name) or name in fields for name in raw):
            fields |= raw
        else:
            nameless.append(raw)
    if nameless:
        fields[_free_name("unrecognised", fields)] = nameless
    return dict(sorted(fields.items()))


def has_place(part: AnyPart) -> bool:
    """Whether a part leaves anything in what is sent for the human."""
    match part:
        case Text(text=""):
            return False
        case Attachment(mime_type=str()) | FileReference():
            return True
        case _:
            return piece_of(part) is not None


def sent_pieces(parts: Sequence[AnyPart]) -> list[Piece]:
    """What stands in the human's place, as it was sent."""
    found: list[Piece] = []
    index = 0
    while index < len(parts):
        end = _end_of_block(parts, index)
        if end > index:
            found += _block(parts[index:end])
            index = end
            continue
        end, words = _joined_words(parts, index)
        if words is not None:
            found.append({"text": words})
        elif (piece := piece_of(parts[index])) is not None:
            found.append(piece)
        index = end
    return found


def pieces_beside_answers(parts: Sequence[AnyPart]) -> Iterator[Piece]:
    """What stands in one message with answers of tools: their pictures, and hints of the human."""
    index = 0
    while index < len(parts):
        match parts[index]:
            case Text(text=words, origin=Origin.INJECTED) if _STEERING.match(words):
                index, joined = _steering(parts, index)
                yield {"text": joined}
                continue
            case FileReference() as file:
                yield {"text": _file_as_text(file)}
            case part:
                yield from pieces_of([part])
        index += 1


def _joined_words(parts: Sequence[AnyPart], index: int) -> tuple[int, str | None]:
    """The words that begin here and were one text once, and where they end; None for what is no text."""
    hooks = ""
    while _is_hook_in_front(parts[index : index + 2]):
        hooks += _text_of(parts[index])
        index += 1
    match parts[index : index + 2]:
        case [
            Text(text=command, origin=Origin.HUMAN | Origin.INJECTED),
            Text(text=output, origin=Origin.SHELL),
        ]:
            return index + 2, hooks + _ran(command, output)
        case [Text(text=words, origin=Origin.INJECTED), *_] if _STEERING.match(words):
            end, words = _steering(parts, index)
            return end, hooks + words
        case [Text(text=words), *_]:
            return index + 1, hooks + words
        case _:
            return index + 1, None


def _text_of(part: AnyPart) -> str:
    return part.text if isinstance(part, Text) else ""


def _is_hook_in_front(parts: Sequence[AnyPart]) -> bool:
    """Whether a hook has put something in front of a text."""
    match parts:
        case [Text(text=hook, origin=Origin.INJECTED), Text()]:
            return _HOOK_IN_FRONT.fullmatch(hook) is not None
        case _:
            return False


def _steering(parts: Sequence[AnyPart], index: int) -> tuple[int, str]:
    """A hint typed while the model worked: the human's words stand inside the agent's."""
    words = ""
    while index < len(parts):
        part = parts[index]
        if not isinstance(part, Text):
            break
        words += part.text
        index += 1
        if part.origin is not Origin.HUMAN and not _OPEN_INPUT.search(part.text):
            break
    return index, words


def _ran(command: str, output: str) -> str:
    """A command that the human gave to the shell, as the model is told of it."""
    return (
        f"I ran the following shell command:\n```sh\n{command}\n```\n\n"
        f"This produced the following result:\n```\n{output}\n```"
    )


def _end_of_block(parts: Sequence[AnyPart], index: int) -> int:
    """Where the files end that were put in for `@path` and begin here; the same place if none do."""
    end = index
    while end < len(parts) and isinstance(parts[end], FileReference | Attachment):
        end += 1
    block = parts[index:end]
    named = any(isinstance(part, Text) and "@" in part.text for part in parts[:index])
    has_files = any(isinstance(part, FileReference) or _is_placeholder(part) for part in block)
    return end if has_files or named else index


def _is_placeholder(part: AnyPart) -> bool:
    """Whether only the kind of a picture is known: older releases did not keep its bytes."""
    return isinstance(part, Attachment) and part.data is None and part.uri is None


def _block(parts: Sequence[AnyPart]) -> list[Piece]:
    """Files and pictures between the lines that the agent puts around them, pictures first."""
    pictures = pieces_of(part for part in parts if isinstance(part, Attachment))
    if any(map(_is_placeholder, parts)):
        return [*pictures, {"text": _block_as_text(parts)}]
    found: list[Piece] = [{"text": FILES_BEGIN}, *pictures]
    for part in parts:
        if isinstance(part, FileReference):
            found += [{"text": f"\nContent from @{part.path}:\n"}, {"text": part.text or ""}]
    return [*found, {"text": FILES_END}]


def _block_as_text(parts: Sequence[AnyPart]) -> str:
    """The same as one text, as releases before 0.28 wrote it: there a picture is a word."""
    pictures = [f"[Image: {p.mime_type}]" for p in parts if isinstance(p, Attachment) and _is_placeholder(p)]
    files = [_file_as_text(part) for part in parts if isinstance(part, FileReference)]
    return "".join([FILES_BEGIN, *pictures, *files, FILES_END])


def _file_as_text(file: FileReference) -> str:
    return f"\nContent from @{file.path}:\n{file.text or ''}"
