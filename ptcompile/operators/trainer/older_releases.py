"""A TrainJob in the words of Trainer 2.0 and 2.1, said in those of 2.2 and newer.

2.0 patches pods through podSpecOverrides, 2.1 through podTemplateOverrides; both also take auto, cpu and gpu as
numProcPerNode (Trainer's pkg/apis/trainer/v1alpha1 of each release; facts/trainer). What is known of runtimePatches
then holds for them too.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, items, kind_of, text
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.untyped import Json

_WORDS: Final = {(2, 0): "podSpecOverrides", (2, 1): "podTemplateOverrides"}
_PROCESSES: Final = ("auto", "cpu", "gpu")
_TEMPLATE: Final = 11
"""How many parts of a path in a runtime patch lead to its pod template."""


def today(manifest: Json, version: Version) -> Json:
    """The same TrainJob as Trainer 2.2 would be told; the manifest itself where nothing differs."""
    if version >= (2, 2) or kind_of(manifest) != ("trainer.kubeflow.org/v1alpha1", "TrainJob"):
        return manifest
    spec: dict[str, Any] = dict(at(manifest, "spec"))
    word = _WORDS.get(version, "podSpecOverrides")
    if isinstance(spec.get(word), list):
        spec["runtimePatches"] = [_patch(one, i, word) for i, one in enumerate(items(spec.pop(word)))]
    trainer = at(spec, "trainer")
    if trainer.get("numProcPerNode") in _PROCESSES:
        spec["trainer"] = {key: value for key, value in trainer.items() if key != "numProcPerNode"}
    return {**manifest, "spec": spec} if spec != at(manifest, "spec") else manifest


def _patch(override: Json, index: int, word: str) -> dict[str, Any]:
    template = {key: value for key, value in override.items() if key != "targetJobs"}
    if word == "podSpecOverrides":
        template = {"spec": template}
    jobs = [
        {"name": text(job.get("name")), "template": {"spec": {"template": template}}}
        for job in items(override.get("targetJobs"))
    ]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    return {"manager": f"trainer.kubeflow.org/override-{index}", "trainingRuntimeSpec": spec}


def written(path: Path, version: Version) -> Path:
    """Where in the file stands what is at `path` in what `today` made of it."""
    if version >= (2, 2) or path[:2] != ("spec", "runtimePatches"):
        return path
    word = _WORDS.get(version, "podSpecOverrides")
    start: Path = ("spec", word, *path[2:3])
    rest = path[_TEMPLATE:]
    if path[8:9] == ("name",):
        return (*start, "targetJobs", path[7], "name")
    return (*start, *(rest[1:] if word == "podSpecOverrides" else rest))
