"""Conflicts between the jobs of one spec, which only a document with variants shows together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.location import PlacedProblem, locate
from ptcompile.compiler.pipeline import Compiled
from ptcompile.diagnostics import Path, Problem, own_problem
from ptcompile.kubernetes.unstructured import Json, as_string, get, nested_string, object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import Stream
from ptcompile.linter.rule import Subject, subject_of
from ptcompile.linter.volumes import mount_for, volume_of, written_checkpoints

_NAMES_OF_RUNS = frozenset({"run", "name", "experiment", "exp", "tag", "id", "job"})
"""Words of options by which a script may tell runs apart."""


class _KeptFolder(NamedTuple):
    """A folder of a claim to which a job writes checkpoints."""

    claim: str
    sub_path: str
    folder: str


def problems_between(
    jobs: Iterable[tuple[Json, Compiled]], versions: Versions
) -> Iterator[tuple[int, Problem]]:
    """Yield a warning for each folder to which an earlier job writes its checkpoints too, with the
    job's index. `jobs` are the documents of the jobs, compiled.
    """
    writers: dict[_KeptFolder, str] = {}
    for number, (data, compiled) in enumerate(jobs):
        stream = Stream(compiled.manifests, versions)
        findings: list[PlacedProblem] = []
        for index, manifest in enumerate(compiled.manifests):
            for path, kept in _kept_folders(subject_of(manifest, stream)):
                writer = writers.setdefault(kept, object_name(data))
                if writer != object_name(data):
                    findings.append(PlacedProblem(_shared_folder(path, kept, writer), index))

        yield from ((number, problem) for problem in locate(findings, data, compiled.trace))
        stream.release()


def _kept_folders(subject: Subject) -> Iterator[tuple[Path, _KeptFolder]]:
    """Yield the folders of claims to which pods write checkpoints, with the fields that name
    them.
    """
    for template in subject.templates:
        for container in template.main_containers:
            words = {
                part
                for word in container.argv
                for part in word.text.lower().replace("_", "-").split("-")
            }
            # the script may make the folder's name from the name of the run
            if words & _NAMES_OF_RUNS:
                continue

            for checkpoint in written_checkpoints(container):
                mount = mount_for(container, checkpoint.folder)
                volume = volume_of(template, mount)
                if mount is None or volume is None:
                    continue

                claim = nested_string(volume.data, "persistentVolumeClaim", "claimName")
                sub_path = nested_string(mount.data, "subPathExpr") or nested_string(
                    mount.data, "subPath"
                )
                written = as_string(get(subject.manifest, checkpoint.path))
                # a path with a variable may differ from run to run
                if claim and "$" not in written + sub_path:
                    yield checkpoint.path, _KeptFolder(claim, sub_path, checkpoint.folder)


def _shared_folder(path: Path, kept: _KeptFolder, writer: str) -> Problem:
    text = f"{writer} writes its checkpoints to {kept.folder} of the claim {kept.claim} too"
    help = "put what varies into the folder, such as /checkpoints/$(RUN) with RUN in env"
    return own_problem("shared-checkpoints", path, text, help, "warning", "run")
