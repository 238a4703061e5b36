"""Homes of coding agents of any size, made from a seed, each with the truth about it.

    cd benchmarks && python -m generator --agent gemini --sessions 1000 --seed 1 --out HOME

writes what the agents themselves write, under a folder that stands for a user's:

    gemini   .gemini/tmp/<sha256 of the project's folder>/chats/session-*.json    releases of 2025
             .gemini/tmp/<slug>/chats/session-*.jsonl                             later ones
             and .project_root, projects.json, logs.json, saved chats, subagents
    claude   .claude/projects/<escaped folder>/<id>.jsonl
    codex    .codex/sessions/YYYY/MM/DD/rollout-*.jsonl

and `truth.json`: counts, sums of tokens, and rare words ("needles") with the sessions that hold them. The
same arguments give the same bytes, whatever `--jobs` is; nothing is read from the machine.

What makes real homes hard to count is in these too, and counted in the truth:

    gemini .jsonl   a message is written again as it grows, under the same id (in early files one record
                    collects the tool calls of a whole chain); in late files every tool result once more, as
                    a record of the user; `$set` lines, among them whole histories; `$rewindTo`; torn last
                    lines; files of a header alone; subagents one folder deeper; a .json beside the .jsonl
                    that took its place
    gemini .json    one session in two files, as /compress leaves it; empty files
    claude          one answer of the service in several lines, its output tokens growing from line to line
    codex           counts of tokens that are written twice; they are running totals

`python -m generator.check HOME` reads a home slowly and plainly, and says where its truth is wrong.
"""
