"""Objects of other files: those that affect the objects of a file, and those that a file of the
same folder repeats.

`lint jobs/ queues/` checks each file separately, together with the namespaces, queues, quotas and
Services of all other files. Those of a context are only read, so that a run over some files finds
what a run over all of them finds there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, takewhile

from ptcompile._internal.files import SUFFIXES, is_inside
from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files
from ptcompile.cli.files import InputFile, kustomizations_near
from ptcompile.kubernetes.index import DECIDING, ObjectIdentity, Objects, selector
from ptcompile.kubernetes.unstructured import Json, nested_value, object_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.cli.config import Config

    ObjectDigests = tuple[tuple[ObjectIdentity, str], ...]
    """The objects of a file, each with a digest of its content."""
    RepeatedObjects = dict[str, dict[ObjectIdentity, str]]
    """The objects that a file repeats, each with the name of the earlier file; keyed by the
    file's path.
    """


_KIND_WORDS = tuple(kind.encode() for kind in sorted(DECIDING))
_PARAM_KIND = b"paramKind"


class RelatedObject(dict[str, object]):
    """An object with the name of its file, which findings about other objects name."""

    origin: str = ""


class RelatedObjects:
    """The objects of each file that affect other files. Only files that name such a kind are read,
    on first use.

    `is_complete`: no file is missing, because several files or a folder are given and not one file
    of an unknown set.
    """

    def __init__(self, inputs: Sequence[InputFile], *, is_complete: bool) -> None:
        self.is_complete = is_complete
        self.read_count = len(inputs)
        some = len(inputs) > 1
        # an object of any kind may be the parameter of a policy
        with_params = any(_PARAM_KIND in file.content for file in inputs)
        self.files = {
            file.name: file
            for file in inputs
            if some and (with_params or any(word in file.content for word in _KIND_WORDS))
        }
        """Files that may contain such an object, by name."""

    def load(self) -> None:
        """Read the files now, so that the processes that share the work need not each read them."""
        _ = self._common, self._services

    def objects_for(self, file: InputFile) -> Objects | None:
        """Return the related objects in other files, or None if the other files are not known."""
        if not self.is_complete:
            return None
        numbers = sorted({*self._common, *self._services_of(file.content)})
        objects = map(self.objects.__getitem__, numbers)
        return Objects([manifest for manifest in objects if manifest.origin != file.name])

    @cached_property
    def objects(self) -> Sequence[RelatedObject]:
        """The related objects of all files, in the order of the files."""
        policies = [file for file in self.files.values() if _PARAM_KIND in file.content]
        params = {kind for file in policies for kind in _param_kinds(_related_objects(file))}
        return list(
            chain.from_iterable(_related_objects(file, params) for file in self.files.values())
        )

    @cached_property
    def _common(self) -> Sequence[int]:
        """Indexes of the objects that may affect every file."""
        return [i for i, manifest in enumerate(self.objects) if manifest["kind"] != "Service"]

    @cached_property
    def _services(self) -> Mapping[bytes, Sequence[tuple[int, bytes]]]:
        """Services as pairs of index and word: their name, or a value of their selector. They are
        keyed by the part of the word that is rarest among all words.
        """
        services = [
            (i, manifest)
            for i, manifest in enumerate(self.objects)
            if manifest["kind"] == "Service"
        ]
        shared = Counter(
            value for _, manifest in services for value in {*selector(manifest).values()}
        )
        words: list[tuple[int, bytes]] = []
        for i, manifest in services:
            values = {*selector(manifest).values()}
            # `app: training` may be in every selector: it tells no Services apart
            rare = [value for value in values if shared[value] <= _MAX_SHARED]
            names = {object_name(manifest), *(rare or values)}
            words += [(i, name.encode(errors="replace")) for name in names]

        counts = Counter(part for _, word in words for part in _parts(word))
        by_part: dict[bytes, list[tuple[int, bytes]]] = {}
        for i, word in words:
            if parts := _parts(word):
                by_part.setdefault(min(parts, key=counts.__getitem__), []).append((i, word))

        return by_part

    def _services_of(self, content: bytes) -> Iterator[int]:
        """Yield the indexes of the Services that a file may name or whose pods it may have; most
        files have neither.
        """
        if not self._services:
            return

        for part in self._services.keys() & _parts(content):
            for i, word in self._services[part]:
                if word in content:
                    yield i


_MAX_SHARED = 64
"""Maximum number of Services that a label tells apart from all others."""
_PARTS = bytes(byte if chr(byte).isalnum() and byte < 128 else ord(" ") for byte in range(256))
"""Letters and digits, with a space for every other byte."""


def _parts(text: bytes) -> list[bytes]:
    """Return the runs of letters and digits in a name or a file."""
    return text.translate(_PARTS).split()


def _param_kinds(objects: Iterable[Json]) -> Iterator[str]:
    """Yield the kinds of the parameters of admission policies."""
    for manifest in objects:
        kind = nested_value(manifest, "spec", "paramKind", "kind")
        if manifest["kind"] == "ValidatingAdmissionPolicy" and isinstance(kind, str):
            yield kind


def _related_objects(file: InputFile, more: Collection[str] = ()) -> Iterator[RelatedObject]:
    """Yield the objects of a file that affect other files; `more` are further kinds."""
    from ptcompile.source import documents as source
    from ptcompile.source.fast_reader import read_document
    from ptcompile.source.nodes import Parsed
    from ptcompile.source.streams import objects_of

    kinds = {*DECIDING, *more}

    def parse(document: str) -> Parsed:
        if any(kind in document for kind in kinds):
            return read_document(document)
        return Parsed(None, None, [])

    parsed = source.read(file.content, file.name, parse=parse)
    for manifest in objects_of(parsed):
        kind = manifest.get("kind")
        if isinstance(kind, str) and kind in kinds:
            related = RelatedObject(manifest)
            related.origin = file.name
            yield related

    # breaks the reference cycle between documents and source
    parsed.documents = ()


def repeated_objects(digests: Iterable[tuple[str, ObjectDigests]]) -> RepeatedObjects:
    """Return the objects that files repeat from an earlier file of their folder.

    Copies with the same content are left out, except jobs, whose digest is empty.
    """
    kustomized = cache(kustomizations_near)
    first: dict[tuple[str, ObjectIdentity], tuple[str, str]] = {}
    repeated: RepeatedObjects = {}
    for path, objects in digests:
        folder = folder_of(path)
        name = os.path.basename(path)
        if path == "<stdin>":
            continue

        for key, digest in objects:
            earlier, content = first.setdefault((folder, key), (name, digest))
            same = digest != "" and digest == content
            if earlier != name and not same and not kustomized(folder):
                repeated.setdefault(path, {})[key] = earlier

    return repeated


@cache
def _absolute_path(folder: str) -> str:
    return os.path.abspath(folder)


def folder_of(path: str) -> str:
    """Return the folder of a file, the same for every way to write it."""
    return _absolute_path(os.path.dirname(path))


def earlier_files(file: InputFile, everything: Iterable[InputFile]) -> list[tuple[str, bytes]]:
    """Return the files of a file's folder that are read before it, unless a kustomization
    combines them.
    """
    folder = folder_of(file.name)
    before = takewhile(lambda each: each.name != file.name, everything)
    same = [(each.name, each.content) for each in before if folder_of(each.name) == folder]
    return [] if same and kustomizations_near(folder) else same


class PartialRun(NamedTuple):
    """The files of a run, by whether they are reported."""

    reported: list[InputFile]
    everything: Sequence[InputFile]
    """These and those that are only read, in the order of a run over all of them."""
    excluded: Sequence[InputFile] = ()
    """The named files that a run over the context leaves out, such as patches of a
    kustomization.
    """
    unreadable: Sequence[str] = ()
    """The reasons for those that cannot be read."""


def with_context(inputs: Sequence[InputFile], context: Sequence[str], config: Config) -> PartialRun:
    """Return named files with those of the files and folders around them, searched as `lint`
    searches folders.
    """
    if not context:
        return PartialRun([*inputs], inputs)

    from ptcompile.cli.exclude import exclusions

    around, unreadable = files.read_all(context, exclusions(config, context))
    by_place = {os.path.realpath(file.name): file for file in around}
    folders = [path for path in context if os.path.isdir(path)]
    reported: list[InputFile] = []
    excluded: list[InputFile] = []
    for file in inputs:
        place = os.path.realpath(file.name)
        is_searched = place.endswith(SUFFIXES) and any(
            is_inside(place, folder) for folder in folders
        )
        if is_searched and place not in by_place:
            excluded.append(file)
        else:
            reported.append(file)
        by_place[place] = file

    everything = [file for file in by_place.values() if file not in excluded]
    return PartialRun(reported, everything, excluded, unreadable)
