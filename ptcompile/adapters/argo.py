"""Argo Workflows: resource templates that apply compiled objects and wait for the job's end. Plain
data; no library.

Argo (4.1) applies one object per template, checks the failure condition first, and deletes owned
objects with the Workflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptcompile.kubernetes.unstructured import JsonDict, without_falsy

if TYPE_CHECKING:
    from ptcompile.api.compile import Result


def templates(result: Result, *, owned: bool = True) -> list[JsonDict]:
    """Return one template per object of a compiled job, in apply order; the last one waits for the
    job's end.

    With `owned`, the Workflow owns the objects, so deleting it deletes them. Raises `CompileError`
    for a result with errors, and ValueError for a manifest with `{{`, which Argo would substitute.
    """
    from ptcompile.source.emitter import emit_all

    handle = result.handle
    manifests = result.unwrap()
    out: list[JsonDict] = []
    for reference, manifest in zip(handle.objects, manifests, strict=True):
        text = emit_all([manifest])
        if "{{" in text:
            raise ValueError(
                f"{reference.kind}/{reference.name} has '{{{{', which Argo would substitute as a "
                "template tag"
            )

        resource = {
            "action": "create",
            **({"setOwnerReference": True} if owned else {}),
            "manifest": text,
        }
        if reference == handle.job:
            resource |= {
                "successCondition": handle.succeeded.argo,
                "failureCondition": handle.failed.argo,
            }

        out.append({"name": f"{reference.kind.lower()}-{len(out)}", "resource": resource})

    return out


def workflow(result: Result, *, service_account: str | None = None) -> JsonDict:
    """Return a Workflow that runs these templates in sequence. Argo adds a suffix to its name,
    which is the job's.
    """
    object_templates = templates(result)
    job = result.handle.job
    steps = [
        [{"name": template["name"], "template": template["name"]}] for template in object_templates
    ]
    metadata = {"generateName": f"{job.name}-", "namespace": job.namespace}
    spec = {
        "entrypoint": "train",
        "templates": [{"name": "train", "steps": steps}, *object_templates],
        "serviceAccountName": service_account,
    }

    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": without_falsy(metadata),
        "spec": without_falsy(spec),
    }
