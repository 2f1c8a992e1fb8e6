"""asyncio: create a job with kubernetes_asyncio, follow its states by a watch, and read the log of node 0.

For all targets except `pod`: a Pod is in the core API group, which needs other calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from kubernetes_asyncio import client, config, watch

import ptcompile
from ptcompile import Handle, Status


async def submit(api: client.ApiClient, result: ptcompile.Result, namespace: str) -> None:
    """Create the job's objects in order."""
    for manifest, obj in zip(result.unwrap(), result.handle.objects, strict=True):
        if obj.kind == "Service":
            await client.CoreV1Api(api).create_namespaced_service(namespace, manifest)
        else:
            kind = (*obj.api_version.split("/"), namespace, obj.plural)
            await client.CustomObjectsApi(api).create_namespaced_custom_object(*kind, manifest)


async def follow(api: client.ApiClient, handle: Handle, namespace: str) -> AsyncIterator[Status]:
    """Yield each new state of a job until it is over. Raises ApiException with status 404 if it is deleted."""
    objects, last = client.CustomObjectsApi(api), None
    kind = (*handle.job.api_version.split("/"), namespace, handle.job.plural)
    while True:
        live = await objects.get_namespaced_custom_object(*kind, handle.job.name)
        async with watch.Watch() as events:
            selector, source = (
                f"metadata.name={handle.job.name}",
                objects.list_namespaced_custom_object,
            )
            stream = events.stream(source, *kind, field_selector=selector, timeout_seconds=300)
            while live is not None:
                status = ptcompile.status(live)
                if status != last:
                    yield status
                if status.done:
                    return
                last = status
                event = await anext(
                    stream, None
                )  # None: the watch has expired, and a new one follows
                live = event["raw_object"] if event and event["type"] != "DELETED" else None


async def log(api: client.ApiClient, handle: Handle, namespace: str) -> str:
    """Return the log of node 0: the newest of its pods."""
    role, core = next(role for role in handle.roles if role.first_rank == 0), client.CoreV1Api(api)
    pods = (await core.list_namespaced_pod(namespace, label_selector=role.selector)).items
    first = [pod for pod in pods if pod.metadata.labels.get(role.index_label or "", "0") == "0"]
    name = max(first, key=lambda pod: pod.metadata.creation_timestamp).metadata.name
    return str(await core.read_namespaced_pod_log(name, namespace, container=role.container))


async def run(spec: str, target: str, name: str, namespace: str = "default") -> Status:
    """Run one spec to its end; print its states and its log."""
    result = ptcompile.compile(spec, target=target, name=name)
    settings = client.Configuration()
    await config.load_kube_config(client_configuration=settings)
    async with client.ApiClient(settings) as api:
        await submit(api, result, namespace)
        async for status in follow(api, result.handle, namespace):
            print(status.state, status.why)
        print(await log(api, result.handle, namespace))
    return status
