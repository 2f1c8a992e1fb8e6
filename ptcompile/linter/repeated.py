"""Objects that two files of one folder define: `kubectl apply -f FOLDER` applies one over the
other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ptcompile.apiserver import is_supported
from ptcompile.diagnostics import Problem, own_problem
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.unstructured import Json, namespace_of, nested_string
from ptcompile.operators.table import BY_TARGET, main_kind
from ptcompile.source import documents as source
from ptcompile.source.documents import Source
from ptcompile.source.streams import is_ours, objects_in, resource_name
from ptcompile.source.templates import find_placeholder, mark_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.kubernetes.index import ObjectIdentity

CREATED_KINDS = frozenset(main_kind(operator).name for operator in BY_TARGET.values())
"""Kinds that are created rather than applied again: the API server rejects the second one even
if it is equal.
"""
_NAME = ("metadata", "name")


def object_digests(read: Source, definitions: Definitions | None) -> dict[ObjectIdentity, str]:
    """Return a digest of the content of each object of a stream that has a known kind and its own
    name.

    The digest of a job is empty: the second one is rejected whatever its content.
    """
    digests: dict[ObjectIdentity, str] = {}
    for document in read.documents:
        for _, manifest in objects_in(document.data):
            key = object_key(manifest, definitions)
            if key is not None:
                is_job = is_ours(manifest) or key[1] in CREATED_KINDS
                digests.setdefault(key, "" if is_job else _digest(manifest))
    return digests


def _digest(manifest: Json) -> str:
    from hashlib import sha256  # loading OpenSSL takes a twentieth of a cold start

    return sha256(repr(manifest).encode(errors="surrogatepass")).hexdigest()[:32]


def object_key(manifest: Json, definitions: Definitions | None) -> ObjectIdentity | None:
    """Return the key of an object, or None if its kind is unknown or its name is not written in
    the file.
    """
    group, kind = group_and_kind(manifest)
    name = nested_string(manifest, "metadata", "name")
    namespace = namespace_of(manifest)
    if not name or any(find_placeholder(text) or mark_within(text) for text in (name, namespace)):
        return None
    is_known = kind == "TrainingJob" if is_ours(manifest) else is_supported(manifest, definitions)
    return (group, kind, namespace, name) if is_known else None


def defined_earlier(
    read: Source,
    definitions: Definitions | None,
    files: Iterable[tuple[str, bytes]],
    pause: Callable[[], None] = lambda: None,
) -> dict[ObjectIdentity, str]:
    """Return the objects of a stream that an earlier file of its folder defines too, each with the
    file's name.

    `files` are these files. Copies with the same content are left out, except jobs. `pause` is
    called before one is read.
    """
    own = object_digests(read, definitions)
    names = {key[-1].encode() for key in own}
    repeated: dict[ObjectIdentity, str] = {}
    for path, content in files:
        if not any(name in content for name in names):
            continue
        pause()
        digests = object_digests(source.read(content, path), definitions)
        for key in digests.keys() & own.keys():
            if not digests[key] or digests[key] != own[key]:
                repeated.setdefault(key, os.path.basename(path))

    return repeated


def repeated_in_folder(manifest: Json, filename: str) -> Problem:
    """Return the warning that an earlier file of the folder defines the object too."""
    message = (
        f"{filename} in this folder also defines {resource_name(manifest)}: "
        "if both are applied, one overwrites the other"
    )
    help = "rename one of them, or remove it"

    return own_problem(
        "repeated-object",
        _NAME,
        message,
        help,
        severity="warning",
        stage="run",
    )
