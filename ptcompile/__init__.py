"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from importlib import import_module

from ptcompile._internal.about import __version__ as __version__

TYPE_CHECKING = False  # as typing says it, which takes longer to import than all that is here

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api.check import Checked as Checked, check as check
    from ptcompile.api.compile import (
        CompileError as CompileError,
        Result as Result,
        compile as compile,
        explain as explain,
    )
    from ptcompile.api.convert import convert as convert
    from ptcompile.api.diff import diff as diff
    from ptcompile.api.fix import Fixed as Fixed, fix as fix
    from ptcompile.api.import_manifests import Imported as Imported, import_manifests as import_manifests
    from ptcompile.api.lint import Report as Report, lint as lint
    from ptcompile.api.reference import (
        Targets as Targets,
        extensions as extensions,
        init as init,
        plugins as plugins,
        rules as rules,
        schema as schema,
        targets as targets,
    )
    from ptcompile.api.rehearse import rehearse as rehearse
    from ptcompile.api.requirements import Requirements as Requirements, platform as platform, requires as requires
    from ptcompile.api.simulate import simulate as simulate, status as status
    from ptcompile.diagnostics import Diagnostic as Diagnostic, Span as Span
    from ptcompile.differ import Difference as Difference
    from ptcompile.explainer.explanation import Explanation as Explanation
    from ptcompile.extending import Extensions as Extensions
    from ptcompile.extending.plugins import Plugin as Plugin
    from ptcompile.fixer import Skipped as Skipped
    from ptcompile.registry.handles import Handle as Handle, Reference as Reference, RolePods as RolePods
    from ptcompile.registry.status import Condition as Condition, Status as Status
    from ptcompile.requirements.jobs import Requirement as Requirement
    from ptcompile.requirements.setup import Setup as Setup
    from ptcompile.simulator.world import World as World
    from ptcompile.spec.base import Metadata as Metadata, ResourceList as ResourceList, Resources as Resources
    from ptcompile.spec.cluster_profile import (
        Accelerator as Accelerator,
        ClusterProfile as ClusterProfile,
        ClusterTopology as ClusterTopology,
        Defaults as Defaults,
        Fabric as Fabric,
        Gpu as Gpu,
        NodeRequirement as NodeRequirement,
        OperatorDeployment as OperatorDeployment,
        OperatorImage as OperatorImage,
        OperatorNamespace as OperatorNamespace,
        OperatorVersions as OperatorVersions,
        ProfileMetadata as ProfileMetadata,
        ProfileSpec as ProfileSpec,
        Spot as Spot,
        Toleration as Toleration,
        TopologyLevel as TopologyLevel,
    )
    from ptcompile.spec.training_job import (
        Elastic as Elastic,
        EnvSource as EnvSource,
        JobSpec as JobSpec,
        Names as Names,
        RoleSpec as RoleSpec,
        RunPolicy as RunPolicy,
        RuntimeRef as RuntimeRef,
        SideRole as SideRole,
        Spec as Spec,
        Topology as Topology,
        Volcano as Volcano,
    )

_MODULES = {
    "ptcompile.api.check": (
        "Checked",
        "check",
    ),
    "ptcompile.api.compile": (
        "CompileError",
        "Result",
        "compile",
        "explain",
    ),
    "ptcompile.api.convert": ("convert",),
    "ptcompile.api.diff": ("diff",),
    "ptcompile.api.fix": (
        "Fixed",
        "fix",
    ),
    "ptcompile.api.import_manifests": (
        "Imported",
        "import_manifests",
    ),
    "ptcompile.api.lint": (
        "Report",
        "lint",
    ),
    "ptcompile.api.reference": (
        "Targets",
        "extensions",
        "init",
        "plugins",
        "rules",
        "schema",
        "targets",
    ),
    "ptcompile.api.rehearse": ("rehearse",),
    "ptcompile.api.requirements": (
        "Requirements",
        "platform",
        "requires",
    ),
    "ptcompile.api.simulate": (
        "simulate",
        "status",
    ),
    "ptcompile.diagnostics": (
        "Diagnostic",
        "Span",
    ),
    "ptcompile.differ": ("Difference",),
    "ptcompile.explainer.explanation": ("Explanation",),
    "ptcompile.extending": ("Extensions",),
    "ptcompile.extending.plugins": ("Plugin",),
    "ptcompile.fixer": ("Skipped",),
    "ptcompile.registry.handles": (
        "Handle",
        "Reference",
        "RolePods",
    ),
    "ptcompile.registry.status": (
        "Condition",
        "Status",
    ),
    "ptcompile.requirements.jobs": ("Requirement",),
    "ptcompile.requirements.setup": ("Setup",),
    "ptcompile.simulator.world": ("World",),
    "ptcompile.spec.base": (
        "Metadata",
        "ResourceList",
        "Resources",
    ),
    "ptcompile.spec.cluster_profile": (
        "Accelerator",
        "ClusterProfile",
        "ClusterTopology",
        "Defaults",
        "Fabric",
        "Gpu",
        "NodeRequirement",
        "OperatorDeployment",
        "OperatorImage",
        "OperatorNamespace",
        "OperatorVersions",
        "ProfileMetadata",
        "ProfileSpec",
        "Spot",
        "Toleration",
        "TopologyLevel",
    ),
    "ptcompile.spec.training_job": (
        "Elastic",
        "EnvSource",
        "JobSpec",
        "Names",
        "RoleSpec",
        "RunPolicy",
        "RuntimeRef",
        "SideRole",
        "Spec",
        "Topology",
        "Volcano",
    ),
}
"""The public names by module, which is imported when one is asked for: linting needs no compiler, compiling no rules.

Type checkers read the imports above; `tests/test_imports.py` holds the two against each other.
"""
_FROM = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(["__version__", *_FROM])


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_FROM[name]), name)
    return found
