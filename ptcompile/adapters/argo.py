"""Argo Workflows: resource templates that apply what was compiled and wait for its end. Plain data; no library.

Argo (4.1) applies one object a template, asks the failure condition first, and deletes what it owns with the Workflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptcompile.api.compile import Result

Json = dict[str, Any]


def templates(result: Result, *, owned: bool = True) -> list[Json]:
    """A template for each object of one compiled job, in the order of applying; the last waits for the job's end.

    `owned` lets the Workflow own the objects: deleting it deletes them. Raises `CompileError` for a result with errors,
    and ValueError where the text has `{{`, which Argo would fill in.
    """
    from ptcompile.source.emitter import emit_all

    handle, manifests = result.handle, result.unwrap()
    made: list[Json] = []
    for one, manifest in zip(handle.objects, manifests, strict=True):
        text = emit_all([manifest])
        if "{{" in text:
            raise ValueError(f"{one.kind}/{one.name} has '{{{{', which Argo would take for one of its own variables")
        resource: Json = {"action": "create", **({"setOwnerReference": True} if owned else {}), "manifest": text}
        if one == handle.job:
            resource |= {"successCondition": handle.succeeded.argo, "failureCondition": handle.failed.argo}
        made.append({"name": f"{one.kind.lower()}-{len(made)}", "resource": resource})
    return made


def workflow(result: Result, *, service_account: str | None = None) -> Json:
    """A Workflow of these templates one after another, named like the job with a suffix of Argo's."""
    made = templates(result)
    job = result.handle.job
    steps = [[{"name": one["name"], "template": one["name"]}] for one in made]
    spec: Json = {"entrypoint": "train", "templates": [{"name": "train", "steps": steps}, *made]}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": f"{job.name}-",
            **({"namespace": job.namespace} if job.namespace else {}),
        },
        "spec": {**spec, **({"serviceAccountName": service_account} if service_account else {})},
    }
