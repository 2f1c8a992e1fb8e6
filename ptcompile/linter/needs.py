"""Words that an object must contain for a rule to be loaded.

Each rule is a separate file, and most have nothing to find, so loading them all would take half of
a cold start. Each rule's docstring therefore says what the rule needs, and `rules.json` of its
family repeats it. Words separated by spaces are all required; of `a/b` one is enough; letter case
is ignored. A word is a run of ASCII letters and digits in a key or a text of the object, or one of
the signs `$ & | < > ;`: `nvidia.com/gpu` has `nvidia`, `com` and `gpu`, `--nproc_per_node` has
`nproc`, `per` and `node`. The word `@Service` means that the stream has an object of that kind,
`@same-node-rank` that the job has an obstacle of that name (`simulator.obstacles`), `@blank` that a
text contains whitespace, and `@variable` that it contains a `$` without a parenthesis: a shell's
variable rather than the kubelet's `$(X)`.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.schema_files import load_table
from ptcompile.kinds.model import Kind, is_overridden
from ptcompile.kubernetes.unstructured import JsonDict, texts_of
from ptcompile.linter.rule import Subject
from ptcompile.operators.table import KINDS


def kind_words(predicate: Callable[[Kind], object]) -> str:
    """Return one word for each kind that satisfies the predicate, as alternatives."""
    kinds = [kind for _, kind in KINDS.values() if predicate(kind)]
    return "/".join(dict.fromkeys(kind.word or kind.name for kind in kinds))


VENDORS = "nvidia/amd/intel/habana/google/amazon/huawei"
"""Vendors of accelerators; each resource name contains one (`hardware.accelerators`)."""

TORCHRUN = "torchrun/torch/launcher/hyperpodrun/tune/axolotl"
"""torchrun by its name, or as `-m torch.distributed.run`."""

NODE_LAUNCHERS = (
    "torchrun/torch/accelerate/deepspeed/composer/colossalai/llamafactory/lmf/swift/megatron/axolotl/launcher"
    "/hyperpodrun/tune"
)
"""Launchers whose options set the number of nodes (`simulator.launchers`)."""

RENDEZVOUS_WORDS = f"{NODE_LAUNCHERS}/master/world"
"""Node launchers, or a script that gets its rendezvous from variables."""

TRAINING_LAUNCHERS = f"{NODE_LAUNCHERS}/mpirun/mpiexec/horovodrun"
"""Launchers of training processes (`linter.containers.LAUNCHERS`)."""

CHECKPOINT_WORDS = (
    "checkpoint/checkpoints/checkpointdir/ckpt/ckpts/ckptdir/snapshot/snapshots/save/savedir/dir/directory/folder/root/out/"
    "outdir/outputdir/output/outputs"
)
"""Words in the names of folders for checkpoints and outputs (`linter.volumes`)."""

KEY_WORDS = (
    "karpenter/autoscaler/autoscaling/cncf/multus/gke/iam/gcsfuse/cloud/istio/linkerd/vault/eks/azure/kubectl"
    "/apparmor/scheduler/security/openshift/crio/cri/storage/storageclass/kueue/jobset/leaderworkerset/trainer"
    "/scheduling/numa/qos/task/kai/runai/fraction/plugin/mig/deploy/workload/product/strategy/clique/cdi/ray"
    "/yunikorn/argocd/kustomize/helm/prometheus/datadoghq/fluentbit/stakater/checksum/opentelemetry/projectcalico"
    "/ovn/bandwidth/deletion/descheduler/instance/count"
)
"""A word of each key in `linter.key_places`."""

SHELLS = "bash/sh/dash/zsh/ash/ksh"

RUNTIME_KINDS = kind_words(lambda kind: is_overridden(kind, Kind.runtime))
"""Kinds that take their defaults from another object."""

NPROC = f"nproc/nprocPerNode/numProcPerNode/{RUNTIME_KINDS}"
"""Words that set the number of processes per node; if the kind sets none, the resources do."""

MULTI_POD_KINDS = kind_words(
    lambda kind: kind.rendezvous.roles or is_overridden(kind, Kind.recreates)
)
"""Kinds that may create several pods."""

CLOSED_KINDS = kind_words(
    lambda kind: is_overridden(kind, Kind.recreates) and not kind.rendezvous.open
)
"""Kinds whose pods are never joined by pods of another object."""

RETRYING_KINDS = kind_words(lambda kind: is_overridden(kind, Kind.retries))
"""Kinds whose operator recreates pods a limited number of times."""

RESTARTING_KINDS = f"Pod/{kind_words(lambda kind: kind.restarts_finished)}"
"""Kinds whose finished pods may start again."""

ENV_KINDS = kind_words(lambda kind: kind.additions.env_of)
"""Kinds whose operator's variables override the user's."""

COMPARED_KINDS = kind_words(
    lambda kind: (
        kind.rendezvous.roles
        and is_overridden(kind, Kind.templates)
        and not kind.rendezvous.all_pods
    )
)
"""Kinds with several pod templates, which rules for any kind compare."""

TORCHRUN_FIELD_KINDS = kind_words(lambda kind: kind.launch_fields.options)
"""Kinds with fields that become options of torchrun."""


Needs = tuple[frozenset[str], ...]
"""Alternatives; the object must contain at least one of each, or the rule finds nothing in it."""

_SIGNS = "$&|<>;"
_WORD_BYTES = bytes(i if chr(i).isalnum() and i < 128 else ord(" ") for i in range(256))
"""Letters and digits unchanged, and a space for every other byte."""
_JOINING_SIGNS = "$\"'\\"
_find_joined_words = Pattern(
    r"""(?a)[$"'\\)}](?:(?<=\w\$)|(?<=\w["'\\])["'\\]*[\w$]|(?<=[)}])["'\\]*[\w$])"""
).search
"""Finds where a shell or the kubelet may join several words into one: `tor"ch"run`, `$A$B`,
`${A}run`.
"""


def rules_in(family: str) -> JsonDict:
    """Return the table of a family, such as `linter.rules.pods`: its rule modules in evaluation
    order.
    """
    return load_table(f"{family.replace('.', '/')}/rules.json")


def parse_needs(text: str) -> Needs:
    """Return the needs in a family's table, such as `torchrun/torch nnodes`.

    A name in braces stands for a constant of this module.
    """
    return tuple(
        frozenset(word.split("/")) for word in text.format_map(globals()).casefold().split()
    )


def words_of(subject: Subject) -> list[str] | None:
    """Return the words of an object, of a TrainJob's runtime and of what admission writes, with the
    kinds of the stream; some repeat.

    None if a text joins words: then every rule must run.
    """
    texts = subject.texts
    if subject.base is not None:
        texts |= texts_of(subject.base.source)
    if subject.origins is not None and subject.origins.writers:
        texts |= {str(step) for path in subject.origins.writers for step in path}
        texts |= {entry.value for entry in subject.variables if entry.value and entry.writer}
    if "@configmap" in subject.stream.kinds:
        # a container may run a script of a ConfigMap
        named = [
            manifest
            for name in texts
            for manifest in subject.objects.by_name(("v1", "ConfigMap"), name)
        ]
        texts = texts.union(*map(texts_of, named))

    text = "\0".join(texts).casefold()
    if any(sign in text for sign in _JOINING_SIGNS) and _find_joined_words(text):
        return None

    words = text.encode("ascii", "replace").translate(_WORD_BYTES).decode("ascii").split()
    words += [sign for sign in _SIGNS if sign in text]
    if text.split(None, 1) != [text]:
        words.append("@blank")
    if "$" in text.replace("$(", ""):
        words.append("@variable")
    words += subject.stream.kinds
    words += [f"@{item.obstacle.name}" for item in subject.obstacles]

    return words
