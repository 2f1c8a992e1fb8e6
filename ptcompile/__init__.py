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
    from ptcompile.extending import Extensions
    from ptcompile.extending.installed import Plugin
    from ptcompile.findings.diagnostics import Diagnostic, Span
    from ptcompile.fixing import Skipped
    from ptcompile.operators.common.following import Condition
    from ptcompile.operators.common.status import Status
    from ptcompile.operators.handles import Handle, Reference, RolePods
    from ptcompile.prerequisites.objects import Setup
    from ptcompile.prerequisites.requirements import Requirement
    from ptcompile.simulation.world import World
    from ptcompile.verbs.check import Checked, check
    from ptcompile.verbs.compile import CompileError, Result, compile, explain
    from ptcompile.verbs.convert import convert
    from ptcompile.verbs.diff import diff
    from ptcompile.verbs.fix import Fixed, fix
    from ptcompile.verbs.import_manifests import Imported, import_manifests
    from ptcompile.verbs.init import init
    from ptcompile.verbs.lint import Report, lint
    from ptcompile.verbs.platform import platform
    from ptcompile.verbs.plugins import extensions, plugins
    from ptcompile.verbs.rehearse import rehearse
    from ptcompile.verbs.requires import Requirements, requires
    from ptcompile.verbs.rules import rules
    from ptcompile.verbs.schema import schema
    from ptcompile.verbs.simulate import simulate
    from ptcompile.verbs.status import status
    from ptcompile.verbs.targets import Targets, targets
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
    from ptcompile.vocabulary.pod_fields import EnvSource, RoleSpec, SideRole
    from ptcompile.vocabulary.spec import Elastic, JobSpec, Names, RunPolicy, RuntimeRef, Spec, Topology, Volcano

__all__ = [
    "Accelerator",
    "Checked",
    "ClusterProfile",
    "ClusterTopology",
    "CompileError",
    "Condition",
    "Defaults",
    "Diagnostic",
    "Difference",
    "Elastic",
    "EnvSource",
    "Explanation",
    "Extensions",
    "Fabric",
    "Fixed",
    "Gpu",
    "Handle",
    "Imported",
    "JobSpec",
    "Metadata",
    "Names",
    "NodeRequirement",
    "OperatorDeployment",
    "OperatorImage",
    "OperatorNamespace",
    "OperatorVersions",
    "Plugin",
    "ProfileMetadata",
    "ProfileSpec",
    "Reference",
    "Report",
    "Requirement",
    "Requirements",
    "ResourceList",
    "Resources",
    "Result",
    "RolePods",
    "RoleSpec",
    "RunPolicy",
    "RuntimeRef",
    "Setup",
    "SideRole",
    "Skipped",
    "Span",
    "Spec",
    "Spot",
    "Status",
    "Targets",
    "Toleration",
    "Topology",
    "TopologyLevel",
    "Volcano",
    "World",
    "__version__",
    "check",
    "compile",
    "convert",
    "diff",
    "explain",
    "extensions",
    "fix",
    "import_manifests",
    "init",
    "lint",
    "platform",
    "plugins",
    "rehearse",
    "requires",
    "rules",
    "schema",
    "simulate",
    "status",
    "targets",
]


_FROM = {
    "Accelerator": "vocabulary.cluster.devices",
    "Checked": "verbs.check",
    "ClusterProfile": "vocabulary.cluster.model",
    "ClusterTopology": "vocabulary.cluster.queues",
    "CompileError": "verbs.compile",
    "Condition": "operators.common.following",
    "Defaults": "vocabulary.cluster.model",
    "Diagnostic": "findings.diagnostics",
    "Difference": "diffing",
    "Elastic": "vocabulary.spec",
    "EnvSource": "vocabulary.pod_fields",
    "Explanation": "explaining.explanation",
    "Extensions": "extending",
    "Imported": "verbs.import_manifests",
    "Fabric": "vocabulary.cluster.devices",
    "Fixed": "verbs.fix",
    "Gpu": "vocabulary.cluster.devices",
    "Handle": "operators.handles",
    "JobSpec": "vocabulary.spec",
    "Metadata": "vocabulary.model",
    "Names": "vocabulary.spec",
    "NodeRequirement": "vocabulary.cluster.devices",
    "OperatorDeployment": "vocabulary.cluster.model",
    "OperatorImage": "vocabulary.cluster.model",
    "OperatorNamespace": "vocabulary.cluster.model",
    "OperatorVersions": "vocabulary.cluster.model",
    "Plugin": "extending.installed",
    "ProfileMetadata": "vocabulary.cluster.model",
    "ProfileSpec": "vocabulary.cluster.model",
    "Reference": "operators.handles",
    "Report": "verbs.lint",
    "Requirement": "prerequisites.requirements",
    "Requirements": "verbs.requires",
    "ResourceList": "vocabulary.model",
    "Resources": "vocabulary.model",
    "Result": "verbs.compile",
    "RolePods": "operators.handles",
    "RoleSpec": "vocabulary.pod_fields",
    "RunPolicy": "vocabulary.spec",
    "Setup": "prerequisites.objects",
    "RuntimeRef": "vocabulary.spec",
    "SideRole": "vocabulary.pod_fields",
    "Skipped": "fixing",
    "Span": "findings.diagnostics",
    "Spec": "vocabulary.spec",
    "Spot": "vocabulary.cluster.model",
    "Status": "operators.common.status",
    "Targets": "verbs.targets",
    "Toleration": "vocabulary.cluster.devices",
    "Topology": "vocabulary.spec",
    "TopologyLevel": "vocabulary.cluster.queues",
    "Volcano": "vocabulary.spec",
    "World": "simulation.world",
    "check": "verbs.check",
    "compile": "verbs.compile",
    "convert": "verbs.convert",
    "diff": "verbs.diff",
    "explain": "verbs.compile",
    "extensions": "verbs.plugins",
    "fix": "verbs.fix",
    "init": "verbs.init",
    "import_manifests": "verbs.import_manifests",
    "lint": "verbs.lint",
    "platform": "verbs.platform",
    "plugins": "verbs.plugins",
    "rehearse": "verbs.rehearse",
    "requires": "verbs.requires",
    "rules": "verbs.rules",
    "schema": "verbs.schema",
    "simulate": "verbs.simulate",
    "status": "verbs.status",
    "targets": "verbs.targets",
}
"""The module of each public name, imported when it is asked for: linting needs no compiler, compiling no rules."""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ptcompile.{_FROM[name]}"), name)
    return found
