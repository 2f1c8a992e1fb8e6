"""Inputs of any size: each function makes one with `n` of something."""

from __future__ import annotations

import re

import ptcompile
from ptcompile.source.emitter import emit
from tests.making import smallest, training_runtime

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n  containers:\n  - name: c\n    image: i\n"


def pods(n: int) -> str:
    return "---\n".join(POD % i for i in range(n))


def env(n: int) -> str:
    return (
        POD % 0
        + "    env:\n"
        + "".join(f"    - {{name: A{i}, value: '$(A{i - 1})x'}}\n" for i in range(n))
    )


def same_env(n: int) -> str:
    return POD % 0 + "    env:\n" + "    - {name: A, valu: x}\n" * n


def secrets(n: int) -> str:
    return (
        POD % 0
        + "    env:\n"
        + "".join(f"    - {{name: A{i}_TOKEN, valu: 1, value: s3cr{i}}}\n" for i in range(n))
    )


def volumes(n: int) -> str:
    volumes = "".join(f"  - {{name: v{i}, emptyDir: {{}}}}\n" for i in range(n))
    return POD % 0 + "    volumeMounts:\n" + "".join(
        f"    - {{name: v{i}, mountPath: /v{i}}}\n" for i in range(n)
    ) + "  volumes:\n" + volumes  # fmt: skip


def containers(n: int) -> str:
    return POD % 0 + "".join(
        f"  - {{name: c{i}, image: i, ports: [{{containerPort: {i + 1}}}]}}\n" for i in range(n)
    )


def tasks(n: int, plugins: str = "") -> str:
    head = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec:\n  minAvailable: 1\n"
    head += f"  plugins: {{{plugins}}}\n  tasks:\n"
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, command: [torchrun, a.py]}]}}"
    return head + "".join(f"  - {{name: t{i}, replicas: 1, {pod}}}\n" for i in range(n))


def jobs(n: int) -> str:
    head = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec:\n  replicatedJobs:\n"
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"
    return head + "".join(f"  - {{name: t{i}, template: {{spec: {{{pod}}}}}}}\n" for i in range(n))


def services(n: int) -> str:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {clusterIP: None, selector: {a: b}}\n---\n"
    return "".join(service % i for i in range(n)) + pods(n)


def ignored(n: int) -> str:
    return POD % 0 + "".join(f"    bad{i}: 1  # ptcompile: ignore[PTC501]\n" for i in range(n))


def wide_ignores(n: int) -> str:
    return "# ptcompile: ignore-file[PTC302] why\n" * n + bad_keys(n)


def bad_keys(n: int) -> str:
    return POD % 0 + "".join(f"    bad{i}: 1\n" for i in range(n))


def twice(n: int) -> str:
    return POD % 0 + "    image: i\n" * n


def spec_env(n: int) -> str:
    return smallest("env:\n" + "".join(f"  A{i}: '$(A{i - 1})'\n" for i in range(n)))


def spec_bad(n: int) -> str:
    return smallest("".join(f"bad{i:04}: 1\n" for i in range(n)))


def spec_roles(n: int) -> str:
    return smallest(
        "nodes: 2\nroles:\n" + "".join(f"  r{i}: {{replicas: 1, command: [a]}}\n" for i in range(n))
    )


def specs(n: int) -> str:
    return "---\n".join(smallest(name=f"t{i}") for i in range(n))


def lists(n: int) -> str:
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- {{apiVersion: v1, kind: Pod, x: {i}}}\n" for i in range(n)
    )


def comments(n: int) -> str:
    return "# HF_TOKEN=x\n" * n + POD % 0 + "    bad: 1\n"


def templates(n: int) -> str:
    return "".join(f"---\n# Source: a{i}\n# more\n" + POD % i + "    bad: 1\n" for i in range(n))


def unread(n: int) -> str:
    return "HF_TOKEN: x\nb: [\n---\n" * n


def aliases(n: int) -> str:
    return "x: &x [1, 2]\ny:\n" + "- *x\n- &y {<<: {a: 1}}\n" * n


def json_stream(n: int) -> str:
    return '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"x": 1}}\n' * n


def hosted_tasks(n: int) -> str:
    return tasks(n, "svc: [], pytorch: [--master=t0, --worker=t1]")


def sweep(n: int) -> str:
    """Return Jobs with numbered names whose pods use a host name that a Service in another file provides."""
    return "".join(
        f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: train-{i}}}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      subdomain: train-{i}
      restartPolicy: Never
      containers:
      - {{name: c, image: i, command: [torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=x-{i}.train-{i}:1]}}
---
"""
        for i in range(n)
    )


def runs_at_one_host(n: int) -> str:
    """Return Jobs that wait at one host, each with a run of its own."""
    return re.sub(
        r"endpoint=x-(\d+)\.train-\d+:1", r"endpoint=shared:1, --rdzv-id=run-\1", sweep(n)
    )


def jobs_with_services(n: int) -> str:
    """Return Jobs that each meet at their own headless Service, as in common examples."""
    return "".join(map(job_with_service, range(n)))


def job_with_service(i: int) -> str:
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: s{i}}}
spec: {{clusterIP: None, selector: {{app: train, job-name: j{i}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j{i}}}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    metadata: {{labels: {{app: train}}}}
    spec:
      subdomain: s{i}
      restartPolicy: Never
      containers:
      - {{name: c, image: i, command: [torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=j{i}-0.s{i}:1, a.py]}}
---
"""


def jobs_without_subdomain(n: int) -> str:
    return jobs_with_services(n).replace("      subdomain: s", "      priorityClassName: s")


def pods_with_files(n: int) -> str:
    """Return Pods that each read a ConfigMap and belong to a separate PodGroup."""
    return "".join(
        f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: c{i}}}
data: {{a: b}}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {{name: g{i}}}
spec: {{minMember: 1}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p{i}, labels: {{scheduling.x-k8s.io/pod-group: g{i}}}}}
spec:
  containers: [{{name: c, image: i, env: [{{name: A, valueFrom: {{configMapKeyRef: {{name: c{i}, key: a}}}}}}]}}]
---
"""
        for i in range(n)
    )


def trainjobs(n: int) -> str:
    """Return TrainJobs, each with its own runtime."""
    return "".join(
        training_runtime(f"r{i}", "{template: {spec: {containers: [{name: node, image: i}]}}}")
        + f"""\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: t{i}}}
spec:
  runtimeRef: {{kind: TrainingRuntime, name: r{i}}}
  trainer: {{numNodes: 2, command: [torchrun, a.py]}}
---
"""
        for i in range(n)
    )


def suspended_trainjobs(n: int) -> str:
    """Return TrainJobs of one name with CRLF ends: each has two findings with a fix and one without."""
    task = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec:
  suspend: true
  runtimeRef: {name: torch-distributed}
---
"""
    return task.replace("\n", "\r\n") * n


def shared_jobsets(n: int) -> str:
    """Return JobSets with the same Service."""
    head = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j%d}\nspec:\n"
    return "---\n".join(
        head % i + "  network: {subdomain: s}\n  replicatedJobs: []\n" for i in range(n)
    )


def set_twice(n: int) -> str:
    return (
        POD % 0
        + "    env:\n"
        + "".join(f"    - {{name: A{i % n}, value: x}}\n" for i in range(2 * n))
    )


def misspelt(n: int) -> str:
    return POD % 0 + "    env:\n" + "".join(f"    - {{name: A{i}, vaule: x}}\n" for i in range(n))


def spec(n: int = 0, *, nodes: int = 2, env: int = 1) -> str:
    variables = ", ".join(f"VARIABLE_{i}: value-{i}" for i in range(env))
    return smallest(
        f"nodes: {nodes}\nresources: {{gpu: 1}}\nenv: {{{variables}}}\n", name=f"train-{n}"
    )


def manifest(n: int = 0, *, nodes: int = 2, env: int = 1) -> str:
    return emit(ptcompile.compile(spec(n, nodes=nodes, env=env), target="job").unwrap()[-1])


def manifests(n: int) -> str:
    return "---\n".join(map(manifest, range(n)))


def manifest_env(n: int) -> str:
    return manifest(env=n)


def spec_volumes(n: int) -> str:
    volumes = "".join(f"- {{name: v{i}, emptyDir: {{}}}}\n" for i in range(n))
    return smallest(
        f"volumes:\n{volumes}volumeMounts:\n"
        + "".join(f"- {{name: v{i}, mountPath: /v{i}}}\n" for i in range(n))
    )


def spec_bad_volumes(n: int) -> str:
    return smallest(
        "volumes:\n" + "".join(f"- {{name: V_{i}, emptyDir: {{}}}}\n" for i in range(n))
    )


def spec_args(n: int) -> str:
    return smallest("args:\n" + "".join(f"- --x{i}=1\n" for i in range(n)))


def spec_containers(n: int) -> str:
    return smallest(
        "podTemplate:\n  spec:\n    containers:\n"
        + "".join(f"    - {{name: c{i}, image: i}}\n" for i in range(n))
    )


def spec_reserved(n: int) -> str:
    return smallest("env:\n" + "".join(f"  PET_{i}: c\n" for i in range(n)))


def job_with_one_variable_often(n: int) -> str:
    head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  completions: 2\n  template:\n"
    pod = "    spec:\n      restartPolicy: Never\n      containers:\n      - name: c\n        image: i\n        env:\n"
    return head + pod + "        - {name: A}\n" * n


def jobs_with_queues(n: int) -> str:
    """Return jobs and as many other objects, which no job is compared with."""
    return "".join(
        f"""\
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: q{i}}}
spec: {{clusterQueue: c}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j{i}, labels: {{kueue.x-k8s.io/queue-name: q{i}}}}}
spec: {{suspend: true, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: i}}]}}}}}}
---
"""
        for i in range(n)
    )


def gates(n: int) -> str:
    """Return a Job in a queue with many gates."""
    names = ",".join(f"a.b/{i}" for i in range(n))
    head = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  labels: {kueue.x-k8s.io/queue-name: q}\n"
    head += f"  annotations: {{kueue.x-k8s.io/admission-gated-by: '{names},a b'}}\n"
    return (
        head
        + "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n"
    )


def unknown_queue_labels(n: int) -> str:
    """Return a Pod with many misspelled labels of Kueue."""
    labels = "".join(f"    kueue.x-k8s.io/pod-group-nam{i}: a\n" for i in range(n))
    return POD.replace(
        "metadata: {name: p%d}", f"metadata:\n  name: p\n  labels:\n{labels}".rstrip()
    )


def cluster_queue(n: int) -> str:
    """Return a ClusterQueue whose flavors have wrong quotas, and whose check names as many other flavors."""
    quota = "{name: memory, nominalQuota: -1, lendingLimit: 3}"
    head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: c}\nspec:\n"
    head += f"  admissionChecksStrategy: {{admissionChecks: [{{name: a, onFlavors: [{_names('g', n)}]}}]}}\n"
    head += "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n"
    return head + "".join(f"    - {{name: f{i}, resources: [{quota}]}}\n" for i in range(n))


def _names(prefix: str, n: int) -> str:
    return ", ".join(f"{prefix}{i}" for i in range(n))


def workload(n: int) -> str:
    """Return a Workload of many pod sets with wrong slices and unknown fields."""
    head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w}\nspec:\n  podSets:\n"
    pod = "template: {spec: {containers: [{name: c, image: i, resources: {requests: {pods: 1}}}]}}"
    rest = f"minCount: 1, bad: 1, topologyRequest: {{podSetSliceSize: 2}}, {pod}"
    return head + "".join(f"  - {{name: p{i}, count: 2, {rest}}}\n" for i in range(n))


_GROUPED = "{kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: rack}"


def ray_groups(n: int) -> str:
    """Return a Ray cluster in a queue whose worker groups all share one group of pod sets."""
    head = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r, labels: {kueue.x-k8s.io/queue-name: q}}\n"
    pod = f"template: {{metadata: {{annotations: {_GROUPED}}}, spec: {{containers: [{{name: c, image: i}}]}}}}"
    head += "spec:\n  headGroupSpec: {template: {spec: {containers: [{name: c, image: i}]}}}\n  workerGroupSpecs:\n"
    return head + "".join(
        f"  - {{groupName: g{i}, replicas: 1, rayStartParams: {{}}, {pod}}}\n" for i in range(n)
    )


def patched_steps(n: int) -> str:
    """Return a TrainJob that patches many steps of its runtime with a topology that Kueue rejects."""
    bad = "template: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: a b}}}}}"
    pod = "template: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}"
    head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t}\nspec:\n"
    head += (
        "  runtimeRef: {name: r}\n  runtimePatches:\n  - manager: a.b/c\n    trainingRuntimeSpec:\n"
    )
    head += "      template:\n        spec:\n          replicatedJobs:\n"
    head += "".join(f"          - {{name: s{i}, {bad}}}\n" for i in range(n)) + "---\n"
    head += "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: r}\nspec:\n"
    head += "  template:\n    spec:\n      replicatedJobs:\n"
    return head + "".join(f"      - {{name: s{i}, {pod}}}\n" for i in range(n))


def stateful_set_with_ports(n: int) -> str:
    """Return a StatefulSet in a queue whose containers have ports that `diff` renames."""
    head = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, labels: {kueue.x-k8s.io/queue-name: q}}\n"
    head += (
        "spec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
    )
    port = "      - {{name: c{0}, image: i, ports: [{{name: value-{0}, containerPort: {1}}}]}}\n"
    return (
        head + "    spec:\n      containers:\n" + "".join(port.format(i, i + 1) for i in range(n))
    )


def job_with_rendezvous_settings(n: int) -> str:
    settings = ",".join(f"a{i}=1" for i in range(n))
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n"
    return (
        head
        + f"  containers: [{{name: c, image: i, command: [torchrun, '--rdzv-conf={settings}', a.py]}}]\n"
    )


def one_key_often(n: int) -> str:
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n" + "  a: x\n" * n


def _script(lines: str) -> str:
    return POD % 0 + "    bad: 1\n    command: [bash, -c]\n    args:\n    - |\n" + lines


def same_token(n: int) -> str:
    """Return a script that repeats one token."""
    return _script("      curl -H 'authorization: s3cr3t' a\n" * n)


def tokens(n: int) -> str:
    """Return a script with many tokens that share a prefix."""
    return _script(
        "".join(
            f"      curl -H 'authorization: s3cr3t-of-mine-and-of-nobody-{i:05}' a\n"
            for i in range(n)
        )
    )


def secrets_beside(n: int) -> str:
    """Return arguments that alternate between tokens and mistakes."""
    return (
        POD % 0
        + "    args:\n"
        + "".join(f"    - --hf-token=s3cr{i}\n    - {{a: {i}}}\n" for i in range(n))
    )


def unknown_options(n: int) -> str:
    """Return options that torchrun does not have."""
    return (
        POD % 0
        + "    command: [torchrun]\n    args:\n"
        + "".join(f"    - --z{i}\n" for i in range(n))
    )


def repeated_options(n: int) -> str:
    return (
        POD % 0
        + "    command: [torchrun]\n    args:\n"
        + "".join(f"    - --z{i}=1\n" * 2 for i in range(n))
    )


def _pods_beside(n: int, addition: str) -> str:
    asking = POD + "    resources: {limits: {cpu: 8}}\n"
    return "---\n".join([*[asking % i for i in range(n)], *[addition % i for i in range(n)]])


def pods_and_limit_ranges(n: int) -> str:
    """Return Pods and as many LimitRanges, whose limits they respect."""
    limit = "spec: {limits: [{type: Container, max: {cpu: 32}}]}\n"
    return _pods_beside(n, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l%d}\n" + limit)


def limits_and_a_quota(n: int) -> str:
    """Return a Pod whose containers each limit a different resource, and a quota for all of them."""
    containers = "".join(
        f"  - name: c{i}\n    image: a:1\n    resources: {{limits: {{example.com/r{i}: 1}}}}\n"
        for i in range(n)
    )
    hard = "".join(f"    limits.example.com/r{i}: 1\n" for i in range(n))
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
    return f"{pod}{containers}---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q}}\nspec:\n  hard:\n{hard}"


def pods_and_quotas(n: int) -> str:
    quota = "spec: {hard: {cpu: 32, limits.cpu: 32}}\n"
    return _pods_beside(n, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q%d}\n" + quota)


def containers_under_admission(n: int) -> str:
    """Return a Pod with init containers in a namespace with a level, a LimitRange and a quota."""
    container = "  - {name: c%s, image: i, resources: {limits: {cpu: 4, memory: 1G}}}\n"
    return (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n"
        "  labels: {pod-security.kubernetes.io/enforce: restricted}\n---\n"
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: a}\n"
        "spec: {limits: [{type: Container, max: {cpu: 3}}, {type: Pod, max: {cpu: 3}}]}\n---\n"
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: a}\n"
        "spec: {hard: {requests.memory: 1, limits.cpu: 1}}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec:\n"
        f"  containers:\n{container % ''}  initContainers:\n{''.join(container % i for i in range(n))}"
    )


def _policies(count: int, **spec: str) -> str:
    """Return policies about Pods, each with its binding."""
    api = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy"
    match = "{resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}"
    more = "".join(f", {key}: {value}" for key, value in spec.items())
    return "".join(
        f"---\n{api}\nmetadata: {{name: p{i}}}\nspec: {{matchConstraints: {match}{more}}}\n"
        f"---\n{api}Binding\nmetadata: {{name: b{i}}}\nspec: {{policyName: p{i}, validationActions: [Deny]}}\n"
        for i in range(count)
    )


def pods_under_policies(n: int) -> str:
    """Return Pods that two policies deny."""
    asked = "[{expression: object.spec.containers.all(c, has(c.command))}]"
    return "---\n".join(POD % i for i in range(n)) + _policies(2, validations=asked)


def a_pod_under_validations(n: int) -> str:
    """Return a Pod that fails many validations of a policy with as many variables."""
    variables = ", ".join(
        f"{{name: v{i}, expression: object.metadata.name + '{i}'}}" for i in range(n)
    )
    validations = ", ".join(f"{{expression: variables.v{i} == 'x'}}" for i in range(n))
    return POD % 0 + _policies(1, variables=f"[{variables}]", validations=f"[{validations}]")


def pytorchjobs(n: int) -> str:
    return "---\n".join(_pytorchjob(i) for i in range(n))


def _pytorchjob(i: int, more: str = "") -> str:
    pod = f"template: {{spec: {{containers: [{{name: pytorch, image: a, command: [python, a.py]{more}}}]}}}}"
    roles = "".join(f"    {role}: {{replicas: 1, {pod}}}\n" for role in ("Master", "Worker"))
    head = (
        f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: j{i}, namespace: d}}\n"
    )
    return f"{head}spec:\n  pytorchReplicaSpecs:\n{roles}"


def volcano_jobs(n: int) -> str:
    """Return Volcano Jobs that differ only in their names."""
    return "---\n".join(tasks(1).replace("{name: j}", f"{{name: j{i}}}") for i in range(n))


def different_jobs(n: int) -> str:
    """Return PyTorchJobs each of which has an image, arguments and variables of its own."""
    jobs = (
        _pytorchjob(i, f", args: [--seed={i}], env: [{{name: A{i}, value: b}}]") for i in range(n)
    )
    return "---\n".join(job.replace("image: a", f"image: a:{i}") for i, job in enumerate(jobs))


def jobs_with_config_maps(n: int) -> str:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d, namespace: d}\ndata: {A: some-words-of.it, B: b}\n"
    jobs = (_pytorchjob(i, f", envFrom: [{{configMapRef: {{name: m{i}}}}}]") for i in range(n))
    return "---\n".join(part for i, job in enumerate(jobs) for part in (head % i, job))


def log_lines(n: int) -> str:
    """Return the log of a pod with n tracebacks of different steps."""
    return "".join(
        f"[rank{i}]: Traceback (most recent call last):\n"
        f'[rank{i}]:   File "/app/train{i}.py", line {i}, in step\n'
        f"[rank{i}]: RuntimeError: CUDA error: out of memory in step {i}\n"
        for i in range(n)
    )


def queue_with_nodes(n: int) -> str:
    """Return a queue whose jobs need nodes of one rack, and nodes of which each is in a rack of its own."""
    kueue = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: "
    flavor = "{name: f, resources: [{name: cpu, nominalQuota: 9}]}"
    container = "{name: c, image: i, resources: {requests: {cpu: 1}}}"
    rack = "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}"
    objects = [
        f"{kueue}Topology\nmetadata: {{name: t}}\n"
        "spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}\n",
        f"{kueue}ResourceFlavor\nmetadata: {{name: f}}\nspec: {{topologyName: t, nodeLabels: {{a: b}}}}\n",
        f"{kueue}ClusterQueue\nmetadata: {{name: c}}\nspec:\n  namespaceSelector: {{}}\n"
        f"  resourceGroups: [{{coveredResources: [cpu], flavors: [{flavor}]}}]\n",
        f"{kueue}LocalQueue\nmetadata: {{name: q, namespace: d}}\nspec: {{clusterQueue: c}}\n",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: d, labels: {kueue.x-k8s.io/queue-name: q}}\n"
        "spec:\n  suspend: true\n  parallelism: 2\n  completions: 2\n"
        f"  template: {{{rack}, spec: {{restartPolicy: Never, containers: [{container}]}}}}\n",
    ]
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n%d, labels: {a: b, rack: r%d, kubernetes.io/hostname: n%d}}\n"
    node += (
        "status: {allocatable: {cpu: 4, pods: 10}, conditions: [{type: Ready, status: 'True'}]}\n"
    )
    return "---\n".join([*objects, *(node % (i, i, i) for i in range(n))])


def pods_under_bindings(n: int) -> str:
    """Return a policy with n rules, its n bindings, and two pods."""
    api = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy"
    rule = "    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods], resourceNames: [p%d]}\n"
    policy = f"{api}\nmetadata: {{name: p}}\nspec:\n  validations: [{{expression: 'true'}}]\n"
    policy += "  matchConstraints:\n    resourceRules:\n" + "".join(
        rule % (i + 1) for i in range(n)
    )
    binding = f"{api}Binding\nmetadata: {{name: b%d}}\nspec: {{policyName: p, validationActions: [Deny]}}\n"
    return "---\n".join([policy, *(binding % i for i in range(n)), POD % 0, POD % 1])


def long_line(n: int) -> str:
    """Return a pod in one line of JSON, with a secret and a mistake in each of n variables."""
    variables = ", ".join(
        f'{{"name": "A{i}_TOKEN", "valu": 1, "value": "s3cr{i}"}}' for i in range(n)
    )
    spec = f'{{"containers": [{{"name": "c", "image": "i", "env": [{variables}]}}]}}'
    return f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}}, "spec": {spec}}}'


def broken_json(n: int) -> str:
    """Return a dump with a syntax error at its end."""
    nodes = ", ".join(
        f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n{i}"}}}}' for i in range(n)
    )
    return f'{{"apiVersion": "v1", "kind": "List", "items": [{nodes},,]}}'
