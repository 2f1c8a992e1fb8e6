"""What an operator is, as data: the shape of one record of `operators.all`.

Every text of the form `module:name` names something in a module of the operator's own folder. It is imported when it is
first asked for, so that the table costs a cold start nothing. An empty text says that the operator has no such thing.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ptcompile.kubernetes.versions import Version

Key = tuple[str, str]
"""apiVersion and kind."""


class Kind(NamedTuple):
    """One kind of an operator's API."""

    api_version: str
    kind: str
    schema: str = ""
    """Its schema, a file below `schemas/`; empty for a kind of the core schema."""
    rules: tuple[str, ...] = ()
    """The packages of lint rules below `ptcompile`, in the order in which they are asked."""
    templates: str = ""
    """manifest -> its pod templates (`common.templates.Template`)."""
    pods: str = ""
    """manifest, context -> the pods that the controller creates (`common.expansion.Expand`)."""
    crd: str = ""
    """manifest -> problems: the rules of the CRD in CEL, at creation."""
    default: str = ""
    """manifest -> manifest: the mutating webhook."""
    webhook: str = ""
    """manifest, versions, others -> problems: the validating webhook."""
    fixed: str = ""
    """The fields that the CRD makes immutable: pairs of a path, with `*` for each item of a list with keys, and the
    CRD's words."""
    update: str = ""
    """old, new, paths that differ, versions -> problems: the validating webhook on updates."""
    controller: str = ""
    """manifest, versions, others -> problems: what is admitted, and refused when the controller acts on it."""
    pod_checks: str = ""
    """manifest, spec, context, found: what the API server answers to the pods, Jobs and claims that are created."""
    failure: str = ""
    """manifest, others -> sentences: what happens when a pod fails and when the job ends."""
    gang: str = ""
    """pod group, roles -> the pods whose requests the group counts; all of them where empty."""
    status: str = ""
    """live object -> the state of the job (`common.status.Status`)."""
    following: str = ""
    """How to follow a job of this kind from outside (`common.following.Following`)."""
    in_newest_words: str = ""
    """manifest, version -> manifest: one of an older release in the words of the newest, or the manifest itself."""
    in_written_words: str = ""
    """path, version -> path: from a place in those words back to the place in the file."""
    base: str = ""
    """manifest, others, versions -> the object that its controller fills it from (`common.base.Base`)."""
    crowded: str = ""
    """manifest, versions -> whether its pods are so many, each told of all, that rules do without them."""
    options: str = ""
    """The fields that the operator turns into options of torchrun, by option."""
    read: str = ""
    """manifest, others -> the ways to read it back into a spec, the best first (`common.read.Read`)."""

    @property
    def key(self) -> Key:
        """apiVersion and kind."""
        return self.api_version, self.kind


class Operator(NamedTuple):
    """One operator: the folder that knows it, its names, its kinds. The kind that its target writes is the first."""

    folder: str
    authority: str
    """Who rejects what it rejects: one of `findings.diagnostics.Authority`."""
    version: str
    """The field of `kubernetes.versions.Versions` that says which release a cluster runs."""
    kinds: tuple[Kind, ...] = ()
    target: str = ""
    """What `--target` calls it; empty for an operator that ptcompile reads and does not write."""
    emit: str = ""
    """The `job.model.Target`."""
    sentences: str = ""
    """Why each field of the target is written, by the words on the way to it."""
    defaults: str = ""
    """What absent fields mean: the `Defaults` of `common.defaults`."""
    changes: str = ""
    """What each of its releases changed, by name (`common.changes.Change`)."""
    software: str = ""
    """The name of the release that a cluster installs; empty where Kubernetes brings it along."""
    kubernetes: tuple[tuple[Version, Version], ...] = ()
    """The oldest Kubernetes that its documentation asks for, each from one of its releases on; the oldest first."""
    crds: tuple[str, ...] = ()
    """Its CRDs, `plural.group/version`."""
    admits: str = ""
    """The kinds of other operators that its webhook is asked about, by apiVersion and kind."""
    admission: str = ""
    """manifest, key -> problems: that webhook."""
    marks: str = ""
    """What stands in the keys of all labels and annotations that it looks at, of an object and its pod templates."""
    beside: str = ""
    """The folder of another operator that this one cannot work without."""


@cache
def resolve(folder: str, reference: str) -> Any:
    """What `module:name` stands for in an operator's folder."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"ptcompile.operators.{folder}.{module}"), name)
