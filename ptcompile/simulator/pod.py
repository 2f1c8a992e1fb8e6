"""A pod as its processes see it, with its device claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.pods import ContainerView, ExpandedRole, Expansion, PodView, main_container_of
from ptcompile.kinds.templates import cluster_host_name
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.index import WRITING_KINDS, Objects
from ptcompile.kubernetes.names import first_label
from ptcompile.kubernetes.pod_spec import REQUIRED
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import record_of
from ptcompile.simulator import kubelet
from ptcompile.simulator.launchers.command import Invocation, container_invocation
from ptcompile.simulator.launchers.rendezvous import Rendezvous, pod_rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.model import Kind
    from ptcompile.simulator.meeting import Gathering, Meeting
    from ptcompile.simulator.mounted import MountedFile
    from ptcompile.simulator.obstacles import Obstacle
    from ptcompile.simulator.rendezvous import JobRendezvous

_CLAIM_GROUP = "resource.k8s.io"
_HOST = "kubernetes.io/hostname"
_COMPUTE_DOMAIN = ("resource.nvidia.com", "ComputeDomain")


class PodClaim(NamedTuple):
    """A device claim of a pod."""

    name: str
    kind: str
    """`ResourceClaimTemplate`, from which each pod gets its own claim, or `ResourceClaim`, which
    pods share.
    """
    source: str
    devices: tuple[str, ...]
    """Requested devices, such as `8 gpu.nvidia.com`, or empty if the stream does not contain the
    claim.
    """


def device_claims(pod: Pod) -> Iterator[PodClaim]:
    """Yield the claims of a pod in the order in which the pod lists them."""
    for reference in nested_maps(pod.view.spec, "resourceClaims"):
        template = nested_string(reference, "resourceClaimTemplateName")
        claim = nested_string(reference, "resourceClaimName")
        kind = "ResourceClaimTemplate" if template else "ResourceClaim"
        devices = _claimed_devices(pod.job.stream, kind, template or claim, pod.view.namespace)
        yield PodClaim(nested_string(reference, "name"), kind, template or claim, devices)


def claim_text(name: str, kind: str, source: str, devices: tuple[str, ...]) -> str:
    """Return a claim as text, such as `gpu: 8 gpu.nvidia.com (template llama-gpu-8)`."""
    devices_text = ", ".join(devices) or "devices that the stream does not name"
    noun = "template" if kind == "ResourceClaimTemplate" else "shared claim"
    return f"{name}: {devices_text} ({noun} {source})"


def _claimed_devices(
    stream: Iterable[Json], kind: str, name: str, namespace: str
) -> tuple[str, ...]:
    for obj in stream:
        if namespace_of(obj) != namespace:
            continue

        domain = nested_map(obj, "spec", "channel", "resourceClaimTemplate")
        obj_kind = group_and_kind(obj)
        if (
            obj_kind == _COMPUTE_DOMAIN
            and kind == "ResourceClaimTemplate"
            and domain.get("name") == name
        ):
            takes_all = nested_value(obj, "spec", "channel", "allocationMode") == "All"
            channels = "all channels" if takes_all else "1 channel"
            return (f"{channels} of ComputeDomain {object_name(obj)}",)
        if obj_kind == (_CLAIM_GROUP, kind) and object_name(obj) == name:
            if kind == "ResourceClaimTemplate":
                spec = nested_map(obj, "spec", "spec")
            else:
                spec = nested_map(obj, "spec")
            return tuple(
                _request_text(request) for request in nested_maps(spec, "devices", "requests")
            )

    return ()


def _request_text(request: Json) -> str:
    """Return a device request as text; of several alternatives, the first."""
    choices = nested_maps(request, "firstAvailable")
    exact = nested_map(request, "exactly") or (choices[0] if choices else request)
    takes_all = exact.get("allocationMode") == "All"
    amount = "all" if takes_all else nested_int(exact, "count", default=1)
    return f"{amount} {nested_string(exact, 'deviceClassName')}"


RANDOM_SUFFIX = "-*****"
"""Stand-in for the five random characters at the end of a pod's name in output."""


class Pod:
    """A pod as its processes see it. `view` is the pod as its operator and admission write it.

    Expensive properties are computed once, on first use.
    """

    def __init__(self, view: PodView, job: WorkloadPods) -> None:
        self.view = view
        self.job = job

    @property
    def name(self) -> str:
        """Name without the random suffix; `random_suffix` tells whether there is one."""
        return self.view.name

    @property
    def random_suffix(self) -> bool:
        """Whether the controller appends five random characters to the name."""
        return self.view.random_suffix

    @property
    def display_name(self) -> str:
        """Name for output, with `-*****` in place of the random suffix."""
        return self.view.name + (RANDOM_SUFFIX if self.view.random_suffix else "")

    @property
    def hostname(self) -> str | None:
        """Host name that the pod sets, else its name, or None if that is random."""
        return self.view.hostname or (None if self.view.random_suffix else self.view.name)

    @property
    def own_fqdn(self) -> str:
        """Fully qualified name in the pod's /etc/hosts, which Python's `socket.getfqdn` returns."""
        host = self.hostname or self.display_name
        sub = self.view.subdomain
        domain = self.job.versions.domain
        if sub is None:
            return host
        return cluster_host_name(host, sub, self.view.namespace, domain)

    @property
    def on_host(self) -> bool:
        """Whether the pod uses its Kubernetes node's network, so its processes see that node's
        host name.
        """
        return self.view.spec.get("hostNetwork") is True

    @property
    def dns(self) -> str | None:
        """DNS name under which other pods find the pod, or None. With `hostNetwork` it resolves to
        the Kubernetes node.
        """
        return self.view.dns

    @property
    def role(self) -> str:
        """Role in the operator's terms: a task, replica type or replicatedJob."""
        return self.view.role

    @property
    def index(self) -> int:
        """Index within the role."""
        return self.view.index

    @cached_property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers, followed by the other containers."""
        return self.view.containers

    @cached_property
    def main(self) -> ContainerView | None:
        """Main container, which trains."""
        return main_container_of(self.containers, self.view.main)

    @property
    def env_entries(self) -> Sequence[Json]:
        """The entries of the main container's env, as written; none without a main container."""
        return self.main.env if self.main else ()

    @cached_property
    def env(self) -> dict[str, str]:
        """The main container's variables in order, `$(X)` expanded; a value that no manifest
        holds is `<source>`.
        """
        if not self._imported_variables or self.main is None:
            return self._values
        names = {nested_string(entry, "name") for entry in self.main.env}
        return {name: value for name, value in self._values.items() if name in names}

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The variables that the main container's processes see: also those of envFrom, with
        texts of ConfigMaps.
        """
        return kubelet.container_variables(self._values, self.job.known_text)

    @cached_property
    def _imported_variables(self) -> dict[str, str]:
        variables: dict[str, str] = {}
        for source in self._env_sources:
            variables |= source.variables
        return variables

    @cached_property
    def _values(self) -> dict[str, str]:
        main = self.main
        if main is None:
            return {}
        return kubelet.environment(main, self.view, imported=self._imported_variables)

    @property
    def has_unknown_variables(self) -> bool:
        """Whether envFrom names an object that the stream lacks."""
        return any(source.keys is None for source in self._env_sources)

    @cached_property
    def _env_sources(self) -> tuple[kubelet.EnvFromEntry, ...]:
        if self.main is None:
            return ()
        return tuple(kubelet.env_sources(self.main.spec, self.job.find))

    @property
    def command(self) -> list[str] | None:
        """The main container's command after expansion, or None for the image's own."""
        command, _ = self._command_line
        return command

    @property
    def args(self) -> list[str] | None:
        """The main container's arguments after expansion, or None for the image's own."""
        _, args = self._command_line
        return args

    @property
    def argv(self) -> list[str]:
        """The words of command and arguments after expansion."""
        return [*(self.command or ()), *(self.args or ())]

    @cached_property
    def _command_line(self) -> tuple[list[str] | None, list[str] | None]:
        """Command and arguments of the main container, with references replaced; None for what the
        image decides.
        """
        main = self.main
        if main is None:
            return (None, None)
        return kubelet.command_line(main, self.variables)

    @property
    def resources(self) -> Json:
        """Requests and limits of the main container, with what admission writes."""
        main = self.main
        return {} if main is None else main.resources

    @property
    def requests(self) -> dict[str, Quantity]:
        """Resources that the scheduler reserves for the whole pod."""
        return amounts.pod_requests(self.view.spec)

    @property
    def qos(self) -> str:
        """`Guaranteed`, `Burstable` or `BestEffort`."""
        return kubelet.qos_class(self.view.spec)

    @cached_property
    def launch(self) -> Invocation:
        """The program that the main container's command line starts."""
        command, args = self._command_line
        values = self._values
        if self.hostname and not self.on_host:
            values = {"HOSTNAME": self.hostname, **values}
        env = kubelet.container_variables(values, self.job.known_text)
        folder = nested_string(self.main.spec, "workingDir") if self.main is not None else ""
        invocation = container_invocation(command or (), args or (), env, self.file_text, folder)
        config_file = invocation.options.get("config-file")
        if not config_file:
            return invocation

        config = self.file(config_file)
        if config is None or config.text is None:
            return invocation

        from ptcompile.simulator.launchers import read_config

        return invocation._replace(options={**read_config(config.text), **invocation.options})

    @cached_property
    def written_options(self) -> Mapping[str, str]:
        """The options on the command line, with references such as `$(X)` as they are written, the
        same for all pods with this spec; none if a shell, a file or a reference decides which
        options there are.
        """
        launch = self.launch
        if self.main is None or launch.in_shell:
            return {}

        written = container_invocation(self.main.command or (), self.main.args or (), {})
        is_same = written.options.keys() == launch.options.keys()
        return written.options if is_same and len(written.entry) == len(launch.entry) else {}

    def file(self, path: str) -> MountedFile | None:
        """Return the file that the main container sees at a path, if a ConfigMap or a Secret of the
        stream, or a ConfigMap of the operator, has it.
        """
        from ptcompile.simulator.mounted import mounted_path

        if self.main is None:
            return None
        mounted = mounted_path(self.view.spec, self.main.spec, path)
        return None if mounted is None else mounted.file(self.job.find)

    def file_text(self, path: str) -> str | None:
        """Return the text of a file in the pod with secrets masked, or None if it is unknown."""
        file = self.file(path)
        return file.known_text if file is not None else None

    @cached_property
    def devices(self) -> dict[str, int]:
        """The main container's accelerators by resource name: its limits, or its requests if it
        has no limits.
        """
        return amounts.visible_accelerators(self.resources)

    @cached_property
    def rendezvous(self) -> Rendezvous:
        """How torchrun, or a script without it, joins the other pods."""
        launch = self.launch
        return pod_rendezvous(launch, launch.env, sum(self.devices.values()))


class _PodFields(NamedTuple):
    manifest: Json
    expansion: Expansion
    stream: Objects = Objects()
    """All objects of the stream."""
    target: str | None = None
    """Target that the manifest was compiled for, or None if it does not come from a spec."""
    versions: Versions = Versions()
    """Releases of the operators and of PyTorch."""
    frameworks: tuple[str, ...] = ()
    """Kinds that Kueue manages beyond its defaults: `queueFrameworks` of the profile."""


def hostname_stem(label: str) -> str:
    """Return a host name without the indexes at its end: `train-node` for `train-node-0-3`."""
    for _ in range(2):
        head, dash, index = label.rpartition("-")
        if dash and index.isdigit():
            label = head
    return label


class WorkloadPods(_PodFields):
    """One workload manifest and its expansion. The first two pods and the last pod of each role
    are built once.
    """

    @cached_property
    def _roles_by_stem(self) -> dict[str, list[ExpandedRole]]:
        """Roles keyed by the stem of their pods' host names."""
        roles: dict[str, list[ExpandedRole]] = {}
        for role in self.roles:
            if role.count:
                roles.setdefault(hostname_stem(self.pod(role, 0).hostname or ""), []).append(role)
        return roles

    def roles_for_host(self, host: str) -> list[ExpandedRole]:
        """Return the roles whose pods may have a host name, looked up by the stem of its first
        label.
        """
        stems = self._roles_by_stem
        return [*stems.get(hostname_stem(first_label(host)), ()), *stems.get("", ())]

    @cached_property
    def _built_pods(self) -> dict[tuple[ExpandedRole, int], Pod]:
        """First, second and last pods of roles, which callers request repeatedly."""
        return {}

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The training roles, grouped by where their pods meet."""
        from ptcompile.simulator.meeting import meetings_of

        return meetings_of(self)

    @cached_property
    def gatherings(self) -> tuple[Gathering, ...]:
        """The meetings of the job; meetings whose pods should all meet are one gathering."""
        from ptcompile.simulator.meeting import gatherings_of

        return gatherings_of(self)

    @cached_property
    def rendezvous(self) -> JobRendezvous | None:
        """The rendezvous of the training pods, or None for a job without pods."""
        from ptcompile.simulator.rendezvous import job_rendezvous

        return job_rendezvous(self)

    @cached_property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps the training pods from joining one rendezvous."""
        from ptcompile.simulator.obstacles import obstacles_of

        return tuple(obstacles_of(self))

    def find(self, kind: str, name: str) -> Json | None:
        """Return the ConfigMap or Secret of the stream, else the ConfigMap that the operator
        writes, or None.
        """
        manifest = self.stream.find(("v1", kind), name, self.namespace)
        if manifest is None and kind == "ConfigMap":
            created = self.expansion.configmaps
            return next((each for each in created if object_name(each) == name), None)
        return manifest

    def configmap_text(self, name: str, key: str) -> str | None:
        """Return the text of a key of a ConfigMap, or None."""
        text = nested_value(self.find("ConfigMap", name) or {}, "data", key)
        return text if isinstance(text, str) else None

    def known_text(self, name: str, key: str) -> str | None:
        """Return the text of a key of a ConfigMap with secrets masked, or None."""
        from ptcompile.simulator.mounted import MountedFile

        source = self.find("ConfigMap", name)
        if source is None:
            return None
        return MountedFile(source, key).known_text

    @cached_property
    def record(self) -> Kind:
        """The record of the manifest's kind."""
        return record_of(self.manifest)

    @property
    def kind(self) -> str:
        """The manifest's kind."""
        return nested_string(self.manifest, "kind")

    @cached_property
    def name(self) -> str:
        """The manifest's name."""
        return object_name(self.manifest)

    @cached_property
    def namespace(self) -> str:
        """The manifest's namespace, or `default`."""
        return namespace_of(self.manifest)

    @cached_property
    def title(self) -> str:
        """`Kind/name`."""
        return f"{self.kind}/{self.name}"

    @property
    def roles(self) -> tuple[ExpandedRole, ...]:
        """The roles in order; `pod(role, i)` builds a pod."""
        return self.expansion.roles

    @property
    def size(self) -> int:
        """Number of pods."""
        return sum(role.count for role in self.roles)

    def pod(self, role: ExpandedRole, index: int) -> Pod:
        """Return one pod of a role."""
        pod = self._built_pods.get((role, index)) or Pod(self._admit_view(role.pod(index)), self)
        if index in (0, 1, role.count - 1):
            self._built_pods[role, index] = pod
        return pod

    def last_pod(self, role: ExpandedRole) -> Pod:
        """Return the last pod of a role that has pods."""
        return self.pod(role, role.count - 1)

    def _admit_view(self, view: PodView) -> PodView:
        """Return a pod as admission leaves it, named in the cluster's domain.

        Most streams have nothing that makes a plugin write.
        """
        if view.dns and self.versions.domain != "cluster.local":
            view = view._replace(dns=view.dns.removesuffix("cluster.local") + self.versions.domain)
        if not self.stream.has_any(WRITING_KINDS):
            return view
        from ptcompile.apiserver.admission.pods import pod_admission

        return view._replace(spec=pod_admission(self.stream, self.namespace).admit(view.spec).spec)

    @cached_property
    def first_pods(self) -> list[tuple[ExpandedRole, Pod]]:
        """The first pod of each role that has pods."""
        return [(role, self.pod(role, 0)) for role in self.roles if role.count > 0]

    def pods(self) -> Iterator[Pod]:
        """Yield all pods, role by role."""
        return (self.pod(role, i) for role in self.roles for i in range(role.count))

    def totals(self) -> dict[str, Quantity]:
        """Return the sum of all pods' requests."""
        return amounts.total((pod.requests, role.count) for role, pod in self.first_pods)


def owner_of(pod: Pod) -> str:
    """Return the object that creates the pod, as `Kind/name`."""
    if pod.view.job and pod.job.kind != "Job":
        return f"Job/{pod.view.job}"
    return pod.job.title


def repel(a: Pod, b: Pod) -> bool:
    """Return whether no node takes both pods, or two such pods if they are the same."""
    labels = {*labels_apart(a, b), *labels_apart(b, a)}
    return _HOST in labels or not _node_ports(a).isdisjoint(_node_ports(b))


def labels_apart(pod: Pod, other: Pod) -> Iterator[str]:
    """Yield the node labels by which a required anti-affinity of the pod keeps it from the
    other.
    """
    for term in nested_maps(pod.view.spec, "affinity", "podAntiAffinity", REQUIRED):
        namespaces = nested_strings(term, "namespaces")
        if namespaces:
            is_local = pod.view.namespace in namespaces
        else:
            is_local = term.get("namespaceSelector") is None
        selector = nested_map(term, "labelSelector")
        is_whole = is_local and selector and not term.get("mismatchLabelKeys")
        if is_whole and selects(selector, other.view.labels):
            yield nested_string(term, "topologyKey")


def _node_ports(pod: Pod) -> frozenset[tuple[int, str]]:
    """Return the ports of the node that a pod takes, with their protocols."""
    containers = nested_maps(pod.view.spec, "containers")
    ports = [port for container in containers for port in nested_maps(container, "ports")]
    key = "containerPort" if pod.on_host else "hostPort"
    numbers = [
        (nested_int(port, "hostPort") or nested_int(port, key), str(port.get("protocol") or "TCP"))
        for port in ports
    ]
    return frozenset((number, protocol) for number, protocol in numbers if number)
