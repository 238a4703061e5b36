"""The shells that complete our commands: the scripts they run, and how words are handed to them.

A script asks `geminids` itself what may stand at the cursor. What it is answered is what click's own scripts
are answered, so those that earlier releases printed go on working; ours mend what these do to `:` and `=`
(bash takes both for ends of words), to titles with commas (fish) and to the order.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from click.exceptions import ClickException, Exit
from click.shell_completion import (
    BashComplete,
    FishComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
    shell_complete,
    split_arg_string,
)

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

PROGRAM, VARIABLE = "geminids", "_GEMINIDS_COMPLETE"

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" kept= type value

    # bash replaces only what follows the last : or = of a word, so what stands before is not given to it.
    local word="${line##*[[:space:]]}"
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        kept="${word%%"${word##*:}"}"
    fi
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                [[ $value == *: ]] && compopt -o nospace
                COMPREPLY+=("${value#"$kept"}") ;;
        esac
    done < <(env COMP_WORDS="$line" COMP_CWORD= %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local type key descr
    local -a response plain begun told
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete "${words[1]}" 2>/dev/null)}")
    for type key descr in "${(@)response}"; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $descr != _ ]]; then
                    told+=("$key:$descr")
                elif [[ $key == *: ]]; then
                    begun+=("$key")
                else
                    plain+=("$key")
                fi ;;
        esac
    done
    (( $#told )) && _describe -V %(prog_name)s told -U
    (( $#begun )) && compadd -U -V %(prog_name)s -S '' -a begun
    (( $#plain )) && compadd -U -V %(prog_name)s -a plain
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef %(complete_func)s %(prog_name)s
fi
"""
_FISH = """\
function %(complete_func)s
    set -l program (commandline -opc)[1]
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp | string collect) \
COMP_CWORD=(commandline -ct | string collect) $program 2>/dev/null)
    for answer in $response
        set -l parts (string split -m 1 "," -- $answer)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


@add_completion_class
class Bash(BashComplete):
    """bash, from 4.4 on."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor and the one at it; a number comes from scripts of earlier releases."""
        if os.environ["COMP_CWORD"]:
            return super().get_completion_args()
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        is_begun = bool(words) and not line[-1:].isspace()
        return (words[:-1], words[-1]) if is_begun else (words, "")


@add_completion_class
class Zsh(ZshComplete):
    """zsh."""

    source_template = _ZSH

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """The word in place of all that is typed, `--project=` included."""
        return super().format_completion(_with_option(item, self.get_completion_args()[1]))


@add_completion_class
class Fish(FishComplete):
    """fish."""

    source_template = _FISH

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """The word in place of all that is typed, `--project=` included."""
        return super().format_completion(_with_option(item, self.get_completion_args()[1]))


def _with_option(item: CompletionItem[Any], typed: str) -> CompletionItem[Any]:
    """The value of an option with the option before it, where both are one word on the line."""
    from click.shell_completion import CompletionItem

    option, is_joined, _ = typed.partition("=")
    if not (is_joined and option.startswith("--") and item.type == "plain"):
        return item
    return CompletionItem(f"{option}={item.value}", help=item.help)


def script(cli: click.Command, shell: str) -> str:
    """What a shell is to run, so that it completes our commands."""
    known = get_completion_class(shell)
    assert known is not None
    return known(cli, {}, PROGRAM, VARIABLE).source()


def answer_shell(cli: click.Command, instruction: str) -> int:
    """Print what a shell asked for, such as `bash_complete`; the exit code. A wrong line gets nothing."""
    try:
        return shell_complete(cli, {}, PROGRAM, VARIABLE, instruction)
    except (ClickException, Exit):
        return 0
