"""What this version knows: rules, targets, schemas, plugins, and the spec to start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile._internal import schema_files
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.extending.plugins import Plugin, installed
from ptcompile.registry.model import Feature
from ptcompile.registry.table import FEATURES
from ptcompile.registry.targets import TARGETS, target_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.extending import Extensions

    Schema = dict[str, Any]


_HEAD = """\
# yaml-language-server: $schema=spec.schema.json
# An editor with a YAML language server completes and checks this file by that schema:
#   ptcompile schema spec > spec.schema.json
# `ptcompile FILE` prints the manifests, `ptcompile simulate FILE` what every pod will see.
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: my-training  # pods, Services and host names are derived from it
  #namespace: research
spec:
"""

_BODY = """\
  image: ghcr.io/acme/train:1.0  # with torch in it
  script: train.py  # torchrun starts it on every node; or module: package.train, or command: [python, train.py]
  args: [--epochs, "3"]
{nodes}
  # Per node. A plain amount is request and limit; one process is started for each GPU.
  resources: {{cpu: 8, memory: 32Gi, gpu: 1}}

  #sharedMemory: 16Gi  # a memory volume at /dev/shm is there anyway, as large as the memory limit lets it be
  #env:
    #NCCL_DEBUG: INFO
    #HF_TOKEN: {{secretKeyRef: {{name: huggingface, key: token}}}}
  #volumes:
    #- {{name: data, persistentVolumeClaim: {{claimName: datasets}}}}
  #volumeMounts:
    #- {{name: data, mountPath: /data}}
  #runPolicy: {{{policy}}}
"""

_DEADLINE = "activeDeadlineSeconds: 86400"
_POLICIES = {"pod": _DEADLINE, "trainjob": _DEADLINE}
"""What a run policy may say where a target has no way to delete a job after its end."""


def starter(target: str | None = None) -> str:
    """A spec for a target, by its name; without one for whatever the job needs. Lines behind `#` may be taken in.

    Raises KeyError for an unknown target.
    """
    if target is None:
        choice = f"  #target: job  # one of {', '.join(TARGETS)}; absent: what the job needs\n"
    else:
        choice = f"  # {target_named(target).title}\n  target: {target}\n"
    nodes = "" if target == "pod" else "  nodes: 2\n"
    policy = _POLICIES.get(target or "", "ttlSecondsAfterFinished: 86400")
    return _HEAD + choice + _BODY.format(nodes=nodes, policy=policy)


def init(target: str | None = None) -> str:
    """A commented spec that compiles, for a target by its name or for what the job needs.

    Raises KeyError for an unknown target.
    """
    return starter(target)


def plugins() -> tuple[Plugin, ...]:
    """The installed packages with entry points of ptcompile, by name. None of them is imported."""
    return installed()


def extensions(plugins: Iterable[str] = (), rules: Iterable[Mapping[str, Any]] = ()) -> Extensions:
    """What plugins and declared rules add: the argument `extensions` of `compile`, `lint` and others.

    `plugins` are names of installed packages, which are imported; `rules` are tables as `[[tool.ptcompile.rule]]` has
    them. Raises ValueError with a sentence for each plugin that is missing or broken and each table that is wrong, and
    TypeError for one text in place of a list.
    """
    if isinstance(plugins, str):
        raise TypeError("plugins: a list of names, and not one text")
    from ptcompile.compiler.passes import PASSES
    from ptcompile.extending.plugins import load

    return load(plugins, rules, [run.__name__ for run in PASSES])


def rules(*, extensions: Extensions | None = None) -> list[dict[str, str]]:
    """Every rule that `lint` has, in the order of the codes: code, name, severity, stage, authority, and its page.

    The page is a title, then `what`, `why`, `bad` and `good` (YAML), `fix` and `source`. Those of
    `extensions` follow; their page is one text, `page`.
    """
    from ptcompile.linter import pages as catalogue

    if extensions is None:
        return catalogue.as_dicts()
    from ptcompile.extending import calls

    return [*catalogue.as_dicts(), *calls.as_dicts(extensions)]


def schema(name: str) -> Schema:
    """A JSON Schema (2020-12), a copy of your own: of `spec` and `cluster`, and of what is given as JSON.

    That is `report`, `world`, `diff`, `explanation`, `handle` and `rehearsal`. Raises KeyError for any other name.
    """
    return SCHEMAS[name]()


def _spec() -> Schema:
    from ptcompile.spec.training_job import json_schema

    return json_schema()


def _cluster() -> Schema:
    from ptcompile.spec.cluster_profile import json_schema

    return json_schema()


def _report() -> Schema:
    from ptcompile.report.json import json_schema

    return json_schema()


def _diff() -> Schema:
    from ptcompile.differ.schema import json_schema

    return json_schema()


def _by_hand(name: str) -> Callable[[], Schema]:
    def read() -> Schema:
        import json

        found: Schema = json.loads(schema_files.schema_text(f"{name}.schema.json"))
        return found

    return read


SCHEMAS: Final[dict[str, Callable[[], Schema]]] = {
    "spec": _spec,
    "cluster": _cluster,
    "report": _report,
    "world": _by_hand("world"),
    "diff": _diff,
    "explanation": _by_hand("explanation"),
    "handle": _by_hand("handle"),
    "rehearsal": _by_hand("rehearsal"),
}
"""How each is made, or read where it is written by hand."""


TABLE: Final = "targets.json"
"""What `Targets.to_dict` gave when the compiler was last changed: the answers of some 250 compilations."""


class Capability(NamedTuple):
    """A capability and what each target makes of it, by name."""

    name: str
    cells: Mapping[str, str]


class Targets(NamedTuple):
    """The targets by name with their titles, what each can express, and what releases changed in what is written."""

    titles: dict[str, str]
    capabilities: tuple[Capability, ...]
    changes: tuple[Feature, ...]

    def text(self) -> str:
        """The targets and the table of what they can express, for people."""
        head = "".join(f"{name:<12} {title}\n" for name, title in self.titles.items())
        rows = [("", *self.titles), *((row.name, *row.cells.values()) for row in self.capabilities)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
        return head + "\n" + "".join(f"{line.rstrip()}\n" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """The same as data: titles by target, and the table by capability."""
        return {"targets": self.titles, "capabilities": {row.name: dict(row.cells) for row in self.capabilities}}


def targets() -> Targets:
    """Every target, with what it makes of each word of the spec in a cluster with the newest releases.

    Read from a table of the package. `requirements.capabilities` makes it by asking the targets.
    """
    table = load(TABLE)
    rows = tuple(Capability(name, cells) for name, cells in table["capabilities"].items())
    ordered = sorted(FEATURES.values(), key=lambda change: (change.operator, change.since))
    return Targets(dict(table["targets"]), rows, tuple(ordered))
