"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from importlib import import_module

from ptcompile.about import __version__

TYPE_CHECKING = False  # as typing says it, which takes longer to import than all that is here

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diffing import Difference
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.findings.diagnostics import Diagnostic, Span
    from ptcompile.simulation import World
    from ptcompile.verbs.compile import CompileError, Result, compile, explain
    from ptcompile.verbs.diff import diff
    from ptcompile.verbs.lint import Report, lint
    from ptcompile.verbs.simulate import simulate
    from ptcompile.vocabulary.cluster.devices import Accelerator, Fabric, Gpu, NodeRequirement, Toleration
    from ptcompile.vocabulary.cluster.model import (
        ClusterProfile,
        Defaults,
        OperatorDeployment,
        OperatorImage,
        OperatorNamespace,
        OperatorVersions,
        ProfileMetadata,
        ProfileSpec,
        Spot,
    )
    from ptcompile.vocabulary.cluster.queues import ClusterTopology, TopologyLevel
    from ptcompile.vocabulary.model import Metadata, ResourceList, Resources
    from ptcompile.vocabulary.spec import (
        Elastic,
        EnvSource,
        JobSpec,
        RoleSpec,
        RunPolicy,
        SideRole,
        Spec,
        Topology,
        Volcano,
    )

__all__ = [
    "Accelerator",
    "ClusterProfile",
    "ClusterTopology",
    "CompileError",
    "Defaults",
    "Diagnostic",
    "Difference",
    "Elastic",
    "EnvSource",
    "Explanation",
    "Fabric",
    "Gpu",
    "JobSpec",
    "Metadata",
    "NodeRequirement",
    "OperatorDeployment",
    "OperatorImage",
    "OperatorNamespace",
    "OperatorVersions",
    "ProfileMetadata",
    "ProfileSpec",
    "Report",
    "ResourceList",
    "Resources",
    "Result",
    "RoleSpec",
    "RunPolicy",
    "SideRole",
    "Span",
    "Spec",
    "Spot",
    "Toleration",
    "Topology",
    "TopologyLevel",
    "Volcano",
    "World",
    "__version__",
    "compile",
    "diff",
    "explain",
    "lint",
    "simulate",
]


_FROM = {
    "Accelerator": "vocabulary.cluster.devices",
    "ClusterProfile": "vocabulary.cluster.model",
    "ClusterTopology": "vocabulary.cluster.queues",
    "CompileError": "verbs.compile",
    "Defaults": "vocabulary.cluster.model",
    "Diagnostic": "findings.diagnostics",
    "Difference": "diffing",
    "Elastic": "vocabulary.spec",
    "EnvSource": "vocabulary.spec",
    "Explanation": "explaining.explanation",
    "Fabric": "vocabulary.cluster.devices",
    "Gpu": "vocabulary.cluster.devices",
    "JobSpec": "vocabulary.spec",
    "Metadata": "vocabulary.model",
    "NodeRequirement": "vocabulary.cluster.devices",
    "OperatorDeployment": "vocabulary.cluster.model",
    "OperatorImage": "vocabulary.cluster.model",
    "OperatorNamespace": "vocabulary.cluster.model",
    "OperatorVersions": "vocabulary.cluster.model",
    "ProfileMetadata": "vocabulary.cluster.model",
    "ProfileSpec": "vocabulary.cluster.model",
    "Report": "verbs.lint",
    "ResourceList": "vocabulary.model",
    "Resources": "vocabulary.model",
    "Result": "verbs.compile",
    "RoleSpec": "vocabulary.spec",
    "RunPolicy": "vocabulary.spec",
    "SideRole": "vocabulary.spec",
    "Span": "findings.diagnostics",
    "Spec": "vocabulary.spec",
    "Spot": "vocabulary.cluster.model",
    "Toleration": "vocabulary.cluster.devices",
    "Topology": "vocabulary.spec",
    "TopologyLevel": "vocabulary.cluster.queues",
    "Volcano": "vocabulary.spec",
    "World": "simulation",
    "compile": "verbs.compile",
    "diff": "verbs.diff",
    "explain": "verbs.compile",
    "lint": "verbs.lint",
    "simulate": "verbs.simulate",
}
"""The module of each public name, imported when it is asked for: linting needs no compiler, compiling no rules."""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ptcompile.{_FROM[name]}"), name)
    return found
