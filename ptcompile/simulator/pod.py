"""One pod as its processes see it, device claims included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mappings,
    as_string,
    kind_of,
    namespace_of,
    nested_map,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.pods import ContainerView, ExpandedRole, Expansion, PodView, main_of
from ptcompile.simulator import amounts, kubelet
from ptcompile.simulator.launchers.command import Invocation, of_container
from ptcompile.simulator.launchers.rendezvous import Rendezvous, rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


class PodClaim(NamedTuple):
    """One claim of a pod."""

    name: str
    kind: str
    """ResourceClaimTemplate, of which each pod gets a claim of its own, or ResourceClaim, which pods share."""
    source: str
    devices: tuple[str, ...]
    """What it asks for, such as `8 gpu.nvidia.com`; empty where no object of the stream says it."""


def device_claims(pod: Pod) -> Iterator[PodClaim]:
    """The claims of a pod, in the order in which it names them."""
    for one in as_mappings(pod.view.spec.get("resourceClaims")):
        template, claim = as_string(one.get("resourceClaimTemplateName")), as_string(one.get("resourceClaimName"))
        kind = "ResourceClaimTemplate" if template else "ResourceClaim"
        devices = _devices(pod.job.given, kind, template or claim, pod.view.namespace)
        yield PodClaim(as_string(one.get("name")), kind, template or claim, devices)


def claim_text(name: str, kind: str, source: str, devices: tuple[str, ...]) -> str:
    """A claim in words, such as `gpu: 8 gpu.nvidia.com (template llama-gpu-8)`."""
    what = ", ".join(devices) or "devices that the stream does not name"
    return f"{name}: {what} ({'template' if kind == 'ResourceClaimTemplate' else 'shared claim'} {source})"


def _devices(given: Iterable[Json], kind: str, name: str, space: str) -> tuple[str, ...]:
    for one in given:
        if namespace_of(one) != space:
            continue
        domain = nested_map(one, "spec", "channel", "resourceClaimTemplate")
        if one.get("kind") == "ComputeDomain" and kind == "ResourceClaimTemplate" and domain.get("name") == name:
            every = nested_map(one, "spec", "channel").get("allocationMode") == "All"
            return (f"{'all channels' if every else '1 channel'} of ComputeDomain {object_name(one)}",)
        if one.get("kind") == kind and object_name(one) == name:
            spec = nested_map(one, "spec", "spec") if kind == "ResourceClaimTemplate" else nested_map(one, "spec")
            return tuple(_request(request) for request in as_mappings(nested_map(spec, "devices").get("requests")))
    return ()


def _request(request: Json) -> str:
    """One request in words; of alternatives the first."""
    choices = as_mappings(request.get("firstAvailable"))
    exact = nested_map(request, "exactly") or (choices[0] if choices else request)
    every = exact.get("allocationMode") == "All"
    return f"{'all' if every else as_int(exact.get('count'), 1)} {as_string(exact.get('deviceClassName'))}"


RANDOM = "-*****"
"""Stands for the five random characters behind a pod's name, where a pod is shown."""


class Pod:
    """One pod as its processes see it. `view` is the pod as its operator writes it.

    What costs something is computed once, when it is first asked for.
    """

    def __init__(self, view: PodView, job: WorkloadPods) -> None:
        self.view = view
        self.job = job

    @property
    def name(self) -> str:
        """Without the random part; `random_suffix` says whether there is one."""
        return self.view.name

    @property
    def random_suffix(self) -> bool:
        """Whether the controller puts five random characters behind the name."""
        return self.view.random_suffix

    @property
    def shown(self) -> str:
        """The name for people, with the random part marked."""
        return self.view.name + (RANDOM if self.view.random_suffix else "")

    @property
    def hostname(self) -> str | None:
        """The host name that the pod asks for; its own name where nothing sets one, None where that is random."""
        return self.view.hostname or (None if self.view.random_suffix else self.view.name)

    @property
    def own_name(self) -> str:
        """The full name that the pod's own /etc/hosts gives it, which Python's `socket.getfqdn` returns."""
        host, sub = self.hostname or self.shown, self.view.subdomain
        return host if sub is None else f"{host}.{sub}.{self.view.namespace}.svc.cluster.local"

    @property
    def on_host(self) -> bool:
        """Whether the pod lives on its node's network: then the node's host name is what its processes see."""
        return self.view.spec.get("hostNetwork") is True

    @property
    def dns(self) -> str | None:
        """The full name under which other pods find it, or None. On the node's network it leads to the node."""
        return self.view.dns

    @property
    def role(self) -> str:
        """The role, in the operator's word: task, replica type, replicatedJob."""
        return self.view.role

    @property
    def index(self) -> int:
        """The index within the role."""
        return self.view.index

    @cached_property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers first, then the others."""
        return self.view.containers

    @cached_property
    def main(self) -> ContainerView | None:
        """The container that trains."""
        return main_of(self.containers, self.view.main)

    @cached_property
    def env(self) -> dict[str, str]:
        """The main container's variables in order, `$(X)` expanded; what no manifest holds reads `<source>`."""
        main = self.main
        return {} if main is None else kubelet.environment(main, self.view)

    @property
    def command(self) -> list[str] | None:
        """The main container's command after expansion, None for the image's own."""
        return self._line[0]

    @property
    def args(self) -> list[str] | None:
        """The main container's arguments after expansion, None for the image's own."""
        return self._line[1]

    @cached_property
    def _line(self) -> tuple[list[str] | None, list[str] | None]:
        main = self.main
        return (None, None) if main is None else kubelet.command_line(main, self.env)

    @property
    def resources(self) -> Json:
        """Requests and limits of the main container, as written."""
        main = self.main
        return {} if main is None else main.resources

    @property
    def requests(self) -> dict[str, Quantity]:
        """What the scheduler reserves for the whole pod."""
        return amounts.of_pod(self.view.spec)

    @property
    def qos(self) -> str:
        """`Guaranteed`, `Burstable` or `BestEffort`."""
        return kubelet.qos_class(self.view.spec)

    @cached_property
    def launch(self) -> Invocation:
        """What the main container's command line starts."""
        command, args = self._line
        env = dict(self.env)
        if self.hostname and not self.on_host:
            env.setdefault("HOSTNAME", self.hostname)
        return of_container(command or (), args or (), env)

    @cached_property
    def devices(self) -> dict[str, int]:
        """The main container's accelerators by resource name: limits, and requests where there is no limit."""
        return amounts.devices(self.resources)

    @cached_property
    def rendezvous(self) -> Rendezvous:
        """What torchrun, or a script without it, makes of all this."""
        launch = self.launch
        return rendezvous(launch, launch.env, sum(self.devices.values()))


class _PodFields(NamedTuple):
    manifest: Json
    expansion: Expansion
    given: Objects = Objects()
    """All objects of the stream."""
    target: str | None = None
    """The target that the manifest was compiled for, where it comes from a spec of ours."""
    versions: Versions = Versions()
    """The releases in force."""


def stem(label: str) -> str:
    """A host name without the indexes that end it: `train-node` of `train-node-0-3`."""
    for _ in range(2):
        head, dash, index = label.rpartition("-")
        label = head if dash and index.isdigit() else label
    return label


class WorkloadPods(_PodFields):
    """One workload manifest and all that comes of it. The first two pods and the last of each role are built once."""

    @cached_property
    def _by_stem(self) -> dict[str, list[ExpandedRole]]:
        """The roles by what the host names of their pods begin with."""
        found: dict[str, list[ExpandedRole]] = {}
        for role in self.roles:
            if role.count:
                found.setdefault(stem(self.pod(role, 0).hostname or ""), []).append(role)
        return found

    def roles_of(self, host: str) -> list[ExpandedRole]:
        """The roles whose pods a host name may lead to, by its first label: found without asking every role."""
        stems = self._by_stem
        return [*stems.get(stem(host.partition(".")[0]), ()), *stems.get("", ())]

    @cached_property
    def _built(self) -> dict[tuple[ExpandedRole, int], Pod]:
        """Pods that are asked for again and again."""
        return {}

    @property
    def kind(self) -> str:
        """The manifest's kind."""
        return kind_of(self.manifest)[1]

    @property
    def name(self) -> str:
        """The manifest's name."""
        return object_name(self.manifest)

    @property
    def namespace(self) -> str:
        """The manifest's namespace, `default` where none is written."""
        return namespace_of(self.manifest)

    @property
    def title(self) -> str:
        """`Kind/name`."""
        return f"{self.kind}/{self.name}"

    @property
    def roles(self) -> tuple[ExpandedRole, ...]:
        """The roles in order; `pod(role, i)` builds a pod."""
        return self.expansion.roles

    @property
    def size(self) -> int:
        """How many pods."""
        return sum(role.count for role in self.roles)

    def pod(self, role: ExpandedRole, index: int) -> Pod:
        """One pod of a role."""
        if index not in (0, 1, role.count - 1):
            return Pod(role.pod(index), self)
        if (role, index) not in self._built:
            self._built[role, index] = Pod(role.pod(index), self)
        return self._built[role, index]

    @cached_property
    def _first_of_each(self) -> list[tuple[ExpandedRole, Pod]]:
        return [(role, self.pod(role, 0)) for role in self.roles if role.count > 0]

    def firsts(self) -> list[tuple[ExpandedRole, Pod]]:
        """The first pod of each role that has any."""
        return self._first_of_each

    def pods(self) -> Iterator[Pod]:
        """Every pod, in the order of the roles."""
        return (self.pod(role, i) for role in self.roles for i in range(role.count))

    def totals(self) -> dict[str, Quantity]:
        """What all pods together ask the scheduler for."""
        return amounts.total((pod.requests, role.count) for role, pod in self.firsts())


def owner_of(pod: Pod) -> str:
    """The object that makes the pod, as `Kind/name`."""
    return f"Job/{pod.view.job}" if pod.view.job and pod.job.kind != "Job" else pod.job.title
