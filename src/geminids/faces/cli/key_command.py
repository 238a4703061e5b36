"""`geminids key`: the keys that records are signed with."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE, GeminidsError
from geminids.faces.cli.groups import NamingGroup
from geminids.faces.cli.options import Choices, json_option, not_empty, pass_choices, shared_options
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from geminids.faces.drawing.page import Page, Span
    from geminids.sharing.records.keys import KeyStore
    from geminids.sharing.records.public_keys import FoundKeys, SigningKey

PASSPHRASE_VARIABLE = "GEMINIDS_KEY_PASSPHRASE"
FIRST_NAME = "main"
SHOWN_OF_AN_ID = 12
"""Digits of a key's id that a terminal has room for; `key show` takes them."""


class NobodyTypesError(GeminidsError):
    """A passphrase is needed, and there is nobody who could type it."""

    def __init__(self, words: str) -> None:
        super().__init__(f"{words}: there is no terminal to ask. Set {PASSPHRASE_VARIABLE}.")


def ask_passphrase(words: str) -> bytes:
    """The passphrase of a key that the words name: from the environment, else typed unseen."""
    return _passphrase(words, twice=False)


def complete_keys(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the keys."""
    from click.shell_completion import CompletionItem

    try:
        names = _keys(context.ensure_object(Choices)).names()
    except (GeminidsError, OSError):
        # A shell that completes shows no errors.
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.group(cls=NamingGroup, invoke_without_command=True)
@json_option
@shared_options
@click.pass_context
def key(context: click.Context) -> int | None:
    """Create and manage signing keys.

    The private key never leaves the data directory, where only you can read it. Give the public key to people
    who verify your records, in a way that they can trust.

    \b
    geminids key                              your keys
    geminids key new --issuer "Ana Lopez"     create a key
    geminids key new work --passphrase        one with a passphrase
    geminids key show > ana.pub.pem           the public key, to hand out
    geminids key set work --default           make it the default
    geminids attest latest -o session.acr     sign with the default key
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        return None
    return _list(context.ensure_object(Choices))


@key.command(name="list")
@json_option
@shared_options
@pass_choices
def list_keys(choices: Choices) -> int:
    """List your keys, oldest first.

    In a pipe each key is one line of name, algorithm, id, issuer, creation time, `passphrase` or nothing, and
    `default` or nothing. Other files in the key folder are listed on stderr.

    \b
    geminids key list
    geminids key list --json | jq -r '.keys[].key_id'
    """  # noqa: D301 - click wants the character itself
    return _list(choices)


@key.command()
@click.argument("name", required=False, default=FIRST_NAME, callback=not_empty)
@click.option(
    "--alg",
    "algorithm",
    type=click.Choice(("ed25519", "es256")),
    default="ed25519",
    show_default=True,
    help="Signature algorithm; es256 is for verifiers that only know P-256.",
)
@click.option(
    "--issuer",
    metavar="TEXT",
    callback=not_empty,
    help="Who signs, such as a name or an address; shown in each record.",
)
@click.option(
    "--passphrase",
    "has_passphrase",
    is_flag=True,
    help="Protect the key with a passphrase; you are asked for it, or it is taken from "
    f"{PASSPHRASE_VARIABLE}.",
)
@json_option
@shared_options
@pass_choices
def new(choices: Choices, *, name: str, algorithm: str, issuer: str | None, has_passphrase: bool) -> int:
    """Create a key called NAME. Default: main.

    The first key becomes the default key. An existing key is never replaced. A lost key or passphrase cannot
    be recovered; what was signed with it can still be verified.

    \b
    geminids key new --issuer "Ana Lopez"
    geminids key new work --alg es256 --issuer https://example.com --passphrase
    """  # noqa: D301 - click wants the character itself
    keys = _keys(choices)
    if issuer is None:
        issuer = _asked_issuer()
    passphrase = _passphrase("Passphrase for the new key", twice=True) if has_passphrase else None
    made = keys.new(name, algorithm, issuer, passphrase, choices.now)
    if choices.json:
        _print_document(keys, made)
        return 0
    _draw(choices.open_page(), [made], choices)
    say(f"The private key is {keys.private_path(made.name)}: anyone who has it can sign as you.")
    say(f"`{choices.spelled('key', 'show', made.name)}` prints the public key, for people who verify.")
    _tell_no_issuer(choices, made)
    return 0


@key.command(name="set")
@click.argument("name", required=False, callback=not_empty, shell_complete=complete_keys)
@click.option("--issuer", metavar="TEXT", callback=not_empty, help="Who signs with it.")
@click.option("--default", "is_default", is_flag=True, help="Make it the default key.")
@json_option
@shared_options
@pass_choices
def set_key(choices: Choices, *, name: str | None, issuer: str | None, is_default: bool) -> int:
    """Change the issuer of a key, or make it the default.

    NAME is a name or the beginning of an id. Default: the default key. Existing records do not change.

    \b
    geminids key set --issuer "Ana Lopez"
    geminids key set work --default
    """  # noqa: D301 - click wants the character itself
    if issuer is None and not is_default:
        raise click.UsageError("Set what? Give --issuer TEXT or --default, or both.")
    keys = _keys(choices)
    changed = keys.change(name or keys.default().name, issuer=issuer, is_default=is_default)
    if choices.json:
        _print_document(keys, changed)
        return 0
    _draw(choices.open_page(), [changed], choices)
    _tell_no_issuer(choices, changed)
    return 0


@key.command()
@click.argument("name", callback=not_empty, shell_complete=complete_keys)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@shared_options
@pass_choices
def delete(choices: Choices, *, name: str, yes: bool) -> int:
    """Delete a key permanently.

    You can no longer sign with it. Existing records can still be verified with its public key.

    \b
    geminids key delete work
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.confirmation import UnansweredError, ask

    keys = _keys(choices)
    meant = keys.get(name)
    if not yes:
        by = f", with which {meant.issuer} signs" if meant.issuer else ""
        ask(f"Delete the key {meant.name}{by}, permanently?", UnansweredError("deleted"))
    deleted = keys.delete(meant.name)
    if choices.json:
        _print_document(keys, deleted)
        return 0
    say(f"The key {deleted.name} is deleted.")
    left = keys.all()
    if deleted.is_default and len(left) > 1:
        say(f"`{choices.spelled('key', 'set', left[0].name, '--default')}` says which key signs now.")
    return 0


@key.command()
@click.argument("name", required=False, callback=not_empty, shell_complete=complete_keys)
@json_option
@shared_options
@pass_choices
def show(choices: Choices, *, name: str | None) -> int:
    """Print the public key, for people who verify.

    NAME is a name or the beginning of an id. Default: the default key. The key is printed as PEM on stdout,
    everything about it on stderr.

    \b
    geminids key show
    geminids key show work > work.pub.pem
    """  # noqa: D301 - click wants the character itself
    keys = _keys(choices)
    found = keys.get(name) if name else keys.default()
    if choices.json:
        _print_document(keys, found)
        return 0
    sys.stdout.write(found.public_pem)
    sys.stdout.flush()
    say("\n  ".join([f"The key {found.name}:", *_facts(found)]))
    return 0


def _keys(choices: Choices) -> KeyStore:
    with choices.open_library() as library:
        return library.records.keys


def _list(choices: Choices) -> int:
    keys = _keys(choices)
    found = keys.found()
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.records import KeysDocument

        print_filled(KeysDocument, found, folder=keys.folder)
    else:
        _draw(choices.open_page(), found.keys, choices)
    return _tell_rest(choices, found)


def _tell_rest(choices: Choices, found: FoundKeys) -> int:
    """Say what else is in the folder, or that nothing is."""
    for strange in found.strange:
        say(f"{strange.file}: {strange.reason}.")
    if not found.keys:
        say(f"You have no key yet. `{choices.spelled('key', 'new', '--issuer', 'NAME')}` makes one.")
        return NOTHING_FOUND
    return PARTLY_DONE if found.strange else 0


def _tell_no_issuer(choices: Choices, one: SigningKey) -> None:
    if not one.issuer:
        line = choices.spelled("key", "set", one.name, "--issuer", "NAME")
        say(f"It has no issuer: set one with `{line}`, or name one in each `attest`.")


def _draw(page: Page, keys: Sequence[SigningKey], choices: Choices) -> None:
    from geminids.faces.drawing.page import Column, DrawnPage
    from geminids.sharing.transcript import words

    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for one in keys:
            page.fields(*_cells(one))
        return
    columns = (
        Column("key", least=8, most=24),
        Column("algorithm", leaves=2),
        Column("id"),
        Column("issuer", least=8, most=40),
        Column("made", leaves=1),
        Column(""),
    )
    rows: list[list[Span]] = []
    for one in keys:
        state = ", ".join(filter(None, _cells(one)[-2:]))
        shown_id = one.key_id[:SHOWN_OF_AN_ID]
        made = words.when(one.created_at, choices.now)
        rows.append([(one.name, "title"), one.algorithm, (shown_id, "quiet"), one.issuer or "", made, state])
    if rows:
        page.table(columns, rows)


def _cells(one: SigningKey) -> list[str]:
    return [
        one.name,
        one.algorithm,
        one.key_id,
        one.issuer or "",
        one.created_at.isoformat(timespec="seconds"),
        "passphrase" if one.has_passphrase else "",
        "default" if one.is_default else "",
    ]


def _facts(one: SigningKey) -> list[str]:
    from geminids.sharing.transcript import words

    facts = {
        "id": one.key_id,
        "algorithm": one.algorithm,
        "issuer": one.issuer or "none noted",
        "made": words.moment(one.created_at),
        "passphrase": "yes" if one.has_passphrase else "no",
        "default": "yes" if one.is_default else "no",
    }
    return [f"{label:<12}{value}" for label, value in facts.items()]


def _print_document(keys: KeyStore, one: SigningKey) -> None:
    from geminids.faces.cli.json_output import print_filled
    from geminids.faces.documents.records import KeyDocument

    print_filled(KeyDocument, one, private_file=keys.private_path(one.name))


def _asked_issuer() -> str | None:
    """Who signs with a new key, if somebody can be asked: without that, each statement must say it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    asked = "Issuer (your name or address)"
    typed: str = click.prompt(asked, default="", show_default=False, err=True)
    return typed.strip() or None


def _passphrase(words: str, *, twice: bool) -> bytes:
    """A passphrase from the environment, else typed unseen; twice, where a slip would lock a key for good."""
    if given := os.environ.get(PASSPHRASE_VARIABLE):
        return os.fsencode(given)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NobodyTypesError(words)
    again = "Repeat it" if twice else False
    typed: str = click.prompt(words, hide_input=True, err=True, confirmation_prompt=again)
    return typed.encode()
