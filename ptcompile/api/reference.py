"""What this release supports: rules, targets, schemas, plugins, and a starter spec."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ptcompile._internal import schema_files
from ptcompile._internal.about import SITE
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.extending.plugins import Plugin, installed
from ptcompile.kinds.model import Feature
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.kubernetes.versions import RELEASES, version_text
from ptcompile.operators.table import FEATURES
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.report.layout import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions

    Schema = JsonDict


_STARTER_HEAD = """\
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

_STARTER_BODY = """\
  image: ghcr.io/acme/train:1.0  # with torch in it
  script: train.py  # torchrun starts it on every node; or module: package.train, or command: [python, train.py]
  args: [--epochs, "3"]
{nodes}
  # Per node. A plain amount is request and limit; one process is started for each GPU.
  resources: {{cpu: 8, memory: 32Gi, gpu: 1}}

  #sharedMemory: 16Gi  # default: a memory volume at /dev/shm, limited only by the memory limit
  #env:
    #NCCL_DEBUG: INFO
    #HF_TOKEN: {{secretKeyRef: {{name: huggingface, key: token}}}}
  #volumes:
    #- {{name: data, persistentVolumeClaim: {{claimName: datasets}}}}
  #volumeMounts:
    #- {{name: data, mountPath: /data}}
  #runPolicy: {{{policy}}}
"""

_DEADLINE_LINE = "activeDeadlineSeconds: 86400"
_RUN_POLICIES = {"pod": _DEADLINE_LINE, "trainjob": _DEADLINE_LINE}
"""Content of the run policy for targets that cannot delete a finished job."""


def init(target: str | None = None) -> str:
    """Return a commented spec that compiles for the named target, or for the target that the job
    needs. Commented-out fields are optional.

    Raises KeyError for an unknown target.
    """
    if target is None:
        choice = f"  #target: job  # one of {', '.join(TARGETS)}; absent: what the job needs\n"
    else:
        choice = f"  # {target_named(target).title}\n  target: {target}\n"
    nodes = "" if target == "pod" else "  nodes: 2\n"
    policy = _RUN_POLICIES.get(target or "", "ttlSecondsAfterFinished: 86400")
    return _STARTER_HEAD + choice + _STARTER_BODY.format(nodes=nodes, policy=policy)


CLOUDS = ("eks", "gke", "aks", "oke")
"""The clouds with a starter profile."""


def starter_profile(cloud: str | None = None) -> str:
    """Return a commented cluster profile to start from, for one of `CLOUDS` or for any cluster."""
    return schema_files.package_text(f"spec/starters/{cloud or 'other'}.yaml")


def plugins() -> tuple[Plugin, ...]:
    """Return the installed packages with ptcompile entry points, sorted by name. None of them is
    imported.
    """
    return installed()


def extensions(plugins: Iterable[str] = (), rules: Iterable[Json] = ()) -> Extensions:
    """Load plugins and declared rules; the result is the argument `extensions` of `compile`, `lint`
    and others.

    `plugins` are names of installed packages, which are imported; `rules` are tables in the form of
    `[[tool.ptcompile.rule]]`. Raises ValueError with one sentence for each missing or broken plugin
    and each invalid table, and TypeError for a single text in place of a list.
    """
    if isinstance(plugins, str):
        raise TypeError("plugins must be a list of names, not a single string")
    from ptcompile.compiler.passes import PASSES
    from ptcompile.extending.plugins import load

    return load(plugins, rules, [run.__name__ for run in PASSES])


def rules(*, extensions: Extensions | None = None) -> list[dict[str, str]]:
    """Return all rules of `lint` in code order: code, name, severity, stage, authority, and the
    rule's page.

    A page consists of a title, `what`, `why`, `bad` and `good` (YAML), `fix` and `source`. The
    rules of `extensions` come last; their page is a single text, `page`.
    """
    from ptcompile.linter import pages as catalogue

    if extensions is None:
        return catalogue.as_dicts()
    from ptcompile.extending import calls

    return [*catalogue.as_dicts(), *calls.as_dicts(extensions)]


def schema(name: str) -> Schema:
    """Return a copy of a JSON Schema (2020-12): of `spec`, `cluster`, `config` (ptcompile.toml), or
    a JSON output.

    The outputs are `report`, `world`, `diff`, `explanation`, `handle` and `rehearsal`. Raises
    KeyError for any other name.
    """
    if name not in SCHEMAS:
        raise KeyError(name)
    if name == "spec":
        from ptcompile.spec.training_job import json_schema

        return json_schema()
    if name == "cluster":
        from ptcompile.spec.cluster_profile import json_schema as profile_schema

        return profile_schema()

    read: Schema = json.loads(schema_files.schema_text(f"{name}.schema.json"))
    return read


SCHEMAS = (
    "spec", "cluster", "report", "world", "diff", "explanation", "handle", "rehearsal", "admission", "diagnosis",
    "config", "upgrade",
)  # fmt: skip
"""The schemas: those of what people write are built from the models, all others are read."""


TARGETS_FILE = "targets.json"
"""The table that `schemas/update.py` writes: the result of `Targets.to_dict`, from some 250
compilations.
"""


class Capability(NamedTuple):
    """A capability, and each target's support for it, by target name."""

    name: str
    cells: Mapping[str, str]


class Targets(NamedTuple):
    """The targets with their titles, what each can express, and which operator releases change
    the output.
    """

    titles: dict[str, str]
    """The title of each target, by name."""
    capabilities: tuple[Capability, ...]
    """What each target can express."""
    changes: tuple[Feature, ...]
    """What releases of the operators changed."""

    def text(self) -> str:
        """Return the targets, the table of their capabilities, and the newest releases known, as
        text.
        """
        head = [f"{name:<12} {title}" for name, title in self.titles.items()]
        rows = [("", *self.titles), *((row.name, *row.cells.values()) for row in self.capabilities)]
        known = [
            (row["title"], row["modeled"], row.get("recorded", "")) for row in RELEASES.values()
        ]
        releases = table([("", "newest modeled", "recorded against"), *known], "")
        return "\n".join([*head, "", *table(rows, ""), "", *releases, ""])

    def to_dict(self) -> JsonDict:
        """Return the same as data: titles by target, the table by capability, and the releases
        by software.
        """
        capabilities = {row.name: dict(row.cells) for row in self.capabilities}
        return {"targets": self.titles, "capabilities": capabilities, "releases": RELEASES}


def targets() -> Targets:
    """Return all targets and their support for each spec field, in a cluster with the newest
    releases.

    The answers come from a table in the package, which `schemas/capabilities.py` makes.
    """
    made = load(TARGETS_FILE)
    rows = tuple(Capability(name, cells) for name, cells in made["capabilities"].items())
    return Targets(dict(made["targets"]), rows, _changes())


def _changes() -> tuple[Feature, ...]:
    return tuple(sorted(FEATURES.values(), key=lambda change: (change.operator, change.since)))


def version_rows() -> list[tuple[str, str, str, str]]:
    """Return rows of operator, releases, change and source: what each operator release changed
    in the manifests.
    """
    return [
        (feature.operator.replace("_", "-"), _release_range(feature), feature.what, feature.source)
        for feature in _changes()
    ]


def versions_text() -> str:
    """Return the version rows as text, one line per change, followed by the address of the fact
    pages.
    """
    rows = [(*row, f"({source})") for *row, source in version_rows()]
    return "\n".join([*table(rows, ""), f"facts/NAME is {SITE}facts/NAME/", ""])


def _release_range(change: Feature) -> str:
    """Return the releases that have the change: `2.2`, `2.0 only`, `2.0 to 2.1`."""
    since = version_text(change.since)
    if change.until is None:
        return since
    if change.until == change.since:
        return f"{since} only"
    return f"{since} to {version_text(change.until)}"
