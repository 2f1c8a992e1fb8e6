"""A v1 Pod as the words of a spec."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.read import MAIN, Pods, Read, given, main_container, names, restart_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """The pod as a job of one node. Its labels and annotations are those of the object."""
    template = {"spec": at(manifest, "spec")}
    main = main_container(template, MAIN)
    run_policy = given({"activeDeadlineSeconds": at(manifest, "spec").get("activeDeadlineSeconds")})
    spec = {key: value for key, value in template["spec"].items() if key != "activeDeadlineSeconds"}
    pods = Pods("node", 1, {"spec": spec}, (), main, restart_policy(template, "Always"))
    yield Read("pod", (pods,), {"nodes": 1, "runPolicy": run_policy, **names(container=main)})
