"""Where people keep projects and where they do not: names of folders, known by heart."""

from __future__ import annotations


def _names(written: str) -> list[str]:
    return written.split()


HOME_FOLDERS = _names(
    """
    dev Dev projects Projects src code Code work repos git github GitHub go/src workspace Workspace
    Developer Development development Sites IdeaProjects PycharmProjects WebstormProjects GolandProjects
    RustroverProjects CLionProjects AndroidStudioProjects StudioProjects source/repos Documents/GitHub
    Documents Desktop
    """
)
"""In a home, the likeliest first."""

MACHINE_FOLDERS = _names(
    "/workspace /workspaces /app /code /src /projects /work /data /opt /srv /usr/src /mnt /media /home"
)
"""Outside of homes: containers, servers, further disks."""

VARIABLES = ("GHQ_ROOT", "PROJECT_HOME", "GITHUB_WORKSPACE", "WORKSPACE")
"""Environment variables that name such a folder."""

NOT_ENTERED_IN_HOME = _names("Library AppData Applications .local")
"""What programs keep in a home; agents name their own folders."""

SKIPPED = frozenset(
    _names(
        """
        node_modules bower_components jspm_packages site-packages __pycache__ venv virtualenv pods
        .git .hg .svn .jj .venv .tox .nox .cache .npm .pnpm-store .yarn .cargo .rustup .pyenv .rbenv .nvm
        .sdkman .gradle .m2 .ivy2 .conda .mypy_cache .pytest_cache .ruff_cache .terraform .next .nuxt
        .parcel-cache .turbo .vscode-server .cursor-server .vscode .idea .ccache .bun .deno .docker .gem
        .bundle .eggs .hypothesis .trash .trashes .spotlight-v100 .fseventsd .snapshots .wine
        lost+found deriveddata $recycle.bin $winreagent windows programdata winsxs
        """
    )
) | {"program files", "program files (x86)", "system volume information"}
"""Names, in lower case, of folders that hold no projects."""

SKIPPED_WHEN_QUICK = frozenset(
    _names("anaconda3 miniconda3 miniforge3 snap target build dist out vendor coverage tmp temp logs")
)
"""Names of folders that seldom do."""

TRUE_CASE = {
    name.lower(): name
    for name in _names(
        """
        Users Documents Desktop Downloads Projects OneDrive GitHub Dropbox Public AppData Local Temp
        Workspace PycharmProjects IdeaProjects WebstormProjects AndroidStudioProjects
        """
    )
}
"""How Windows and programs there spell names that agents' notes may have in lower case."""
