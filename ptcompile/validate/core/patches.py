"""What a TrainJob adds to its runtime's pods, as far as it is wrong whatever the runtime says (Trainer 2.3).

Lists are merged by name and objects field by field, so nothing here is called missing.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.env import check_env, why_not_env
from ptcompile.validate.core.metadata import check_annotations, check_labels
from ptcompile.validate.core.resources import check_amounts
from ptcompile.validate.core.scheduling import check_node_selector, check_scheduling_gates, check_tolerations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_trainer(spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """`spec.trainer` and `spec.initializer`: they replace parts of one container each."""
    scope = Scope({}, context, False, None, None, found)
    trainer, path = f.mapping(spec.get("trainer")), ("spec", "trainer")
    if trainer.get("env"):
        check_env(trainer["env"], (*path, "env"), trainer, scope)
    if type(trainer.get("resourcesPerNode")) is dict:
        check_amounts(trainer["resourcesPerNode"], (*path, "resourcesPerNode"), found, partial=True)
    image = trainer.get("image")
    if type(image) is str and image != image.strip():
        f.invalid(found, (*path, "image"), image, "must not have leading or trailing whitespace", "remove the blanks")
    for name, part in f.mapping(spec.get("initializer")).items():
        if f.mapping(part).get("env"):
            check_env(part["env"], ("spec", "initializer", name, "env"), part, scope)


def check_runtime_patches(patches: Any, path: Path, context: ApiServer, found: f.Found) -> None:
    """`spec.runtimePatches`: partial pod templates by replicated job."""
    for index, patch in f.objects(patches):
        template = f.mapping(f.mapping(patch.get("trainingRuntimeSpec")).get("template"))
        here = (*path, index, "trainingRuntimeSpec", "template")
        _check_metadata(template.get("metadata"), (*here, "metadata"), found)
        for number, job in f.objects(f.mapping(template.get("spec")).get("replicatedJobs")):
            at = (*here, "spec", "replicatedJobs", number, "template")
            child = f.mapping(job.get("template"))
            _check_metadata(child.get("metadata"), (*at, "metadata"), found)
            pods = f.mapping(f.mapping(child.get("spec")).get("template"))
            _check_metadata(pods.get("metadata"), (*at, "spec", "template", "metadata"), found)
            _check_pod(f.mapping(pods.get("spec")), (*at, "spec", "template", "spec"), context, found)


def _check_metadata(meta: Any, path: Path, found: f.Found) -> None:
    if type(meta) is dict:
        check_labels(meta.get("labels"), (*path, "labels"), found)
        check_annotations(meta.get("annotations"), (*path, "annotations"), found)


def _check_pod(spec: dict[str, Any], path: Path, context: ApiServer, found: f.Found) -> None:
    scope = Scope(spec, context, False, None, None, found)
    check_node_selector(spec.get("nodeSelector"), (*path, "nodeSelector"), scope)
    check_tolerations(spec.get("tolerations"), (*path, "tolerations"), scope)
    check_scheduling_gates(spec.get("schedulingGates"), (*path, "schedulingGates"), scope)
    account = spec.get("serviceAccountName")
    if type(account) is str and account and (why := names.why_not_dns_subdomain(account)):
        f.invalid(found, (*path, "serviceAccountName"), account, why)
    for key in ("volumes", "containers", "initContainers"):
        for index, item in f.objects(spec.get(key)):
            name = item.get("name")
            if type(name) is str and name and (why := names.why_not_dns_label(name)):
                f.invalid(found, (*path, key, index, "name"), name, why)
            for number, entry in f.objects(item.get("env")):
                variable = entry.get("name")
                if type(variable) is str and variable and (why := why_not_env(variable, context)):
                    f.invalid(found, (*path, key, index, "env", number, "name"), variable, why)
