"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from importlib import import_module

from ptcompile._internal.about import __version__

TYPE_CHECKING = False  # as typing says it, which takes longer to import than all that is here

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api.check import Checked, check
    from ptcompile.api.compile import CompileError, Result, compile, explain
    from ptcompile.api.convert import convert
    from ptcompile.api.diff import diff
    from ptcompile.api.fix import Fixed, fix
    from ptcompile.api.import_manifests import Imported, import_manifests
    from ptcompile.api.lint import Report, lint
    from ptcompile.api.reference import Targets, extensions, init, plugins, rules, schema, targets
    from ptcompile.api.rehearse import rehearse
    from ptcompile.api.requirements import Requirements, platform, requires
    from ptcompile.api.simulate import simulate, status
    from ptcompile.diagnostics import Diagnostic, Span
    from ptcompile.differ import Difference
    from ptcompile.explainer.explanation import Explanation
    from ptcompile.extending import Extensions
    from ptcompile.extending.plugins import Plugin
    from ptcompile.fixer import Skipped
    from ptcompile.registry.handles import Handle, Reference, RolePods
    from ptcompile.registry.status import Condition, Status
    from ptcompile.requirements.jobs import Requirement
    from ptcompile.requirements.setup import Setup
    from ptcompile.simulator.world import World
    from ptcompile.spec.base import Metadata, ResourceList, Resources
    from ptcompile.spec.cluster_profile import (
        Accelerator,
        ClusterProfile,
        ClusterTopology,
        Defaults,
        Fabric,
        Gpu,
        NodeRequirement,
        OperatorDeployment,
        OperatorImage,
        OperatorNamespace,
        OperatorVersions,
        ProfileMetadata,
        ProfileSpec,
        Spot,
        Toleration,
        TopologyLevel,
    )
    from ptcompile.spec.training_job import (
        Elastic,
        EnvSource,
        JobSpec,
        Names,
        RoleSpec,
        RunPolicy,
        RuntimeRef,
        SideRole,
        Spec,
        Topology,
        Volcano,
    )

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
    "Accelerator": "spec.cluster_profile",
    "Checked": "api.check",
    "ClusterProfile": "spec.cluster_profile",
    "ClusterTopology": "spec.cluster_profile",
    "CompileError": "api.compile",
    "Condition": "registry.status",
    "Defaults": "spec.cluster_profile",
    "Diagnostic": "diagnostics",
    "Difference": "diffing",
    "Elastic": "spec.training_job",
    "EnvSource": "spec.training_job",
    "Explanation": "explainer.explanation",
    "Extensions": "extending",
    "Imported": "api.import_manifests",
    "Fabric": "spec.cluster_profile",
    "Fixed": "api.fix",
    "Gpu": "spec.cluster_profile",
    "Handle": "registry.handles",
    "JobSpec": "spec.training_job",
    "Metadata": "spec.base",
    "Names": "spec.training_job",
    "NodeRequirement": "spec.cluster_profile",
    "OperatorDeployment": "spec.cluster_profile",
    "OperatorImage": "spec.cluster_profile",
    "OperatorNamespace": "spec.cluster_profile",
    "OperatorVersions": "spec.cluster_profile",
    "Plugin": "extending.plugins",
    "ProfileMetadata": "spec.cluster_profile",
    "ProfileSpec": "spec.cluster_profile",
    "Reference": "registry.handles",
    "Report": "api.lint",
    "Requirement": "requirements.jobs",
    "Requirements": "api.requirements",
    "ResourceList": "spec.base",
    "Resources": "spec.base",
    "Result": "api.compile",
    "RolePods": "registry.handles",
    "RoleSpec": "spec.training_job",
    "RunPolicy": "spec.training_job",
    "Setup": "requirements.setup",
    "RuntimeRef": "spec.training_job",
    "SideRole": "spec.training_job",
    "Skipped": "fixing",
    "Span": "diagnostics",
    "Spec": "spec.training_job",
    "Spot": "spec.cluster_profile",
    "Status": "registry.status",
    "Targets": "api.reference",
    "Toleration": "spec.cluster_profile",
    "Topology": "spec.training_job",
    "TopologyLevel": "spec.cluster_profile",
    "Volcano": "spec.training_job",
    "World": "simulator.world",
    "check": "api.check",
    "compile": "api.compile",
    "convert": "api.convert",
    "diff": "api.diff",
    "explain": "api.compile",
    "extensions": "api.reference",
    "fix": "api.fix",
    "init": "api.reference",
    "import_manifests": "api.import_manifests",
    "lint": "api.lint",
    "platform": "api.requirements",
    "plugins": "api.reference",
    "rehearse": "api.rehearse",
    "requires": "api.requirements",
    "rules": "api.reference",
    "schema": "api.reference",
    "simulate": "api.simulate",
    "status": "api.simulate",
    "targets": "api.reference",
}
"""The module of each public name, imported when it is asked for: linting needs no compiler, compiling no rules."""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ptcompile.{_FROM[name]}"), name)
    return found
