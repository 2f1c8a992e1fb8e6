"""The files changed since a commit, by git's stored trees and the bytes of the files.

git only reads: no working tree is compared by it, so no filter, hook, monitor or other program that
a configuration names is started, and nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence

from ptcompile.cli.files import InputFile, UsageError

_QUIET = {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
_LENGTH_OF_SHA1 = 40
_LINK = "120000"
"""The mode of a link in a tree; what it leads to is another file."""


def changed_since(revision: str, inputs: Sequence[InputFile]) -> list[InputFile]:
    """Return the files that are new or have other bytes than in the last common commit of a
    revision and HEAD.

    Raises `UsageError` outside a repository, for an unknown revision, and if a shallow clone lacks
    the common commit.
    """
    top = os.path.realpath(os.fsdecode(_git("rev-parse", "--show-toplevel").rstrip(b"\n")))
    stored = _stored_files(_common_commit(revision))

    def is_changed(file: InputFile) -> bool:
        place = os.path.relpath(os.path.realpath(file.name), top).replace(os.sep, "/")
        known = stored.get(os.fsencode(place))
        if known is None:
            return True

        # git may write line ends of Windows
        contents = {file.content, file.content.replace(b"\r\n", b"\n")}
        digest = hashlib.sha1 if len(known) == _LENGTH_OF_SHA1 else hashlib.sha256
        blobs = [b"blob %d\0" % len(content) + content for content in contents]
        return all(digest(blob).hexdigest() != known for blob in blobs)

    return [file for file in inputs if file.name == "<stdin>" or is_changed(file)]


def _common_commit(revision: str) -> str:
    try:
        commit = (
            _git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
            .decode()
            .strip()
        )
    except UsageError:
        help = "fetch it first, such as with fetch-depth: 0 of actions/checkout"
        raise UsageError(f"--since {revision}: the repository has no such commit; {help}") from None

    try:
        return _git("merge-base", commit, "HEAD").decode().strip()
    except UsageError:
        is_shallow = _git("rev-parse", "--is-shallow-repository").strip() == b"true"
        if is_shallow:
            why = "the clone is shallow; run git fetch --unshallow"
        else:
            why = "their histories are unrelated"
        raise UsageError(f"--since {revision}: no common commit with HEAD: {why}") from None


def _stored_files(commit: str) -> dict[bytes, str]:
    """Return the name of the blob of each file of a commit, by path."""
    blobs: dict[bytes, str] = {}
    for line in filter(None, _git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")):
        description, _, path = line.partition(b"\t")
        mode, _, blob = description.decode().split(" ")
        if mode != _LINK:
            blobs[path] = blob
    return blobs


def _git(*words: str) -> bytes:
    """Return what a command of git prints. Raises `UsageError` with the first line of its error."""
    try:
        done = subprocess.run(  # noqa: S603 - reads only, see above
            ["git", "--no-pager", *words],  # noqa: S607 - the user's git
            env={**os.environ, **_QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"--since needs git: {error}") from None

    if done.returncode:
        reason = done.stderr.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ")
        raise UsageError(f"--since: git {words[0]}: {reason}")

    return done.stdout
