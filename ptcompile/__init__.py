"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The functions take text, bytes, plain mappings or a `pathlib.Path`, and return values:

    compile            compile specs to manifests
    check              compare written manifests with what their specs compile to
    lint               check manifests and specs as an API server, the operators and torchrun would
    fix                apply the fixes of what `lint` finds
    convert            rewrite manifests for another operator
    import_manifests   read manifests back into specs
    diff               compare two specs, two streams of manifests, or one of each
    upgrade            tell what other releases of a cluster mean for specs or manifests
    simulate           show what every pod of a job will see
    stored             show objects as the server would keep them
    rehearse           run a job's pods as local processes
    admit              tell whether the queues of a cluster admit jobs, and what prevents it
    explain            name the cause of every value of the manifests
    diagnose           name the first cause in a job's logs, and the line of the manifest that led to it
    status             read the state of a job from its live object
    requires           list what jobs need of a cluster
    platform           write the objects that a cluster must have for them
    init               write a commented spec to start from
    targets, rules     list the operators, and the rules of `lint`
    schema             return the JSON Schema of specs and profiles
    plugins            list the installed plugins
    extensions         load plugins and declared rules for the argument `extensions`

`Spec` and `ClusterProfile` are the models of the two documents; https://ptcompile.github.io/ptcompile/ has the guide.
"""

from __future__ import annotations

import sys
from importlib import import_module

from ptcompile._internal.about import __version__ as __version__

# type checkers take it as true; importing typing would take longer than this whole module
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api.admit import Admission as Admission, admit as admit
    from ptcompile.api.check import Checked as Checked, check as check
    from ptcompile.api.compile import (
        CompileError as CompileError,
        Result as Result,
        compile as compile,
    )
    from ptcompile.api.convert import convert as convert
    from ptcompile.api.diagnose import diagnose as diagnose
    from ptcompile.api.diff import diff as diff
    from ptcompile.api.explain import explain as explain
    from ptcompile.api.fix import Fixed as Fixed, fix as fix
    from ptcompile.api.import_manifests import (
        Imported as Imported,
        import_manifests as import_manifests,
    )
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
    from ptcompile.api.requirements import (
        Requirements as Requirements,
        platform as platform,
        requires as requires,
    )
    from ptcompile.api.simulate import simulate as simulate, status as status
    from ptcompile.api.stored import Stored as Stored, stored as stored
    from ptcompile.api.upgrade import Upgrade as Upgrade, upgrade as upgrade
    from ptcompile.diagnosis.model import Diagnosis as Diagnosis
    from ptcompile.diagnostics import Diagnostic as Diagnostic, Span as Span
    from ptcompile.differ import Difference as Difference
    from ptcompile.explainer.explanation import Explanation as Explanation
    from ptcompile.extending import Extensions as Extensions
    from ptcompile.extending.plugins import Plugin as Plugin
    from ptcompile.fixer import Skipped as Skipped
    from ptcompile.kinds.status import Condition as Condition, Status as Status
    from ptcompile.operators.handles import (
        Handle as Handle,
        Reference as Reference,
        RolePods as RolePods,
    )
    from ptcompile.requirements.jobs import Requirement as Requirement
    from ptcompile.requirements.setup import Setup as Setup
    from ptcompile.simulator.world import World as World
    from ptcompile.spec.base import (
        Metadata as Metadata,
        ResourceList as ResourceList,
        Resources as Resources,
    )
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
    "ptcompile.api.admit": "Admission admit",
    "ptcompile.api.check": "Checked check",
    "ptcompile.api.compile": "CompileError Result compile",
    "ptcompile.api.convert": "convert",
    "ptcompile.api.diagnose": "diagnose",
    "ptcompile.api.diff": "diff",
    "ptcompile.api.explain": "explain",
    "ptcompile.api.fix": "Fixed fix",
    "ptcompile.api.import_manifests": "Imported import_manifests",
    "ptcompile.api.lint": "Report lint",
    "ptcompile.api.reference": "Targets extensions init plugins rules schema targets",
    "ptcompile.api.rehearse": "rehearse",
    "ptcompile.api.requirements": "Requirements platform requires",
    "ptcompile.api.simulate": "simulate status",
    "ptcompile.api.stored": "Stored stored",
    "ptcompile.api.upgrade": "Upgrade upgrade",
    "ptcompile.diagnosis.model": "Diagnosis",
    "ptcompile.diagnostics": "Diagnostic Span",
    "ptcompile.differ": "Difference",
    "ptcompile.explainer.explanation": "Explanation",
    "ptcompile.extending": "Extensions",
    "ptcompile.extending.plugins": "Plugin",
    "ptcompile.fixer": "Skipped",
    "ptcompile.operators.handles": "Handle Reference RolePods",
    "ptcompile.kinds.status": "Condition Status",
    "ptcompile.requirements.jobs": "Requirement",
    "ptcompile.requirements.setup": "Setup",
    "ptcompile.simulator.world": "World",
    "ptcompile.spec.base": "Metadata ResourceList Resources",
    "ptcompile.spec.cluster_profile": (
        "Accelerator ClusterProfile ClusterTopology Defaults Fabric Gpu NodeRequirement "
        "OperatorDeployment OperatorImage OperatorNamespace OperatorVersions ProfileMetadata "
        "ProfileSpec Spot Toleration TopologyLevel"
    ),
    "ptcompile.spec.training_job": (
        "Elastic EnvSource JobSpec Names RoleSpec RunPolicy RuntimeRef SideRole Spec Topology "
        "Volcano"
    ),
}
"""The public names by module, which is imported when one is asked for: linting needs no compiler, compiling no rules.

Type checkers read the imports above; `tests/test_imports.py` holds the two against each other.
"""
_FROM = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(["__version__", *_FROM])


def __getattr__(name: str) -> Any:
    """Return a public name from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_FROM[name]), name)
    if hasattr(sys, "ps1") and isinstance(value, type):  # at a prompt, where people ask for help()
        from ptcompile._internal.namedtuple import with_field_texts

        value.__doc__ = with_field_texts(value)
    return value


def __dir__() -> list[str]:
    """Return the public names, which are imported when they are used."""
    return __all__
