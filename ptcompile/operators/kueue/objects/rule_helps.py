"""What to do about each CEL rule of Kueue's CRDs, and the field that it is about, by the rule's message.

Source: the CRDs in schemas/crds/kueue.x-k8s.io.json.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.model import RuleHelp


_WAIT = "wait for the Workload to lose its quota, or delete it"
_RECREATE = "delete the object and apply again (kubectl replace --force), or give it another name"
_RESERVED = "immutable while workload quota reserved"

RULE_HELPS: dict[str, RuleHelp] = {
    "a value must be empty when 'operator' is 'Exists'": ((), "remove the value"),
    "at least one nodeLabel is required when topology is set": (("nodeLabels",), "add a label of the flavor's nodes"),
    "borrowingLimit must be nil when cohort is empty": ((), "set spec.cohortName, or remove borrowingLimit"),
    "effect must be 'NoExecute' when 'tolerationSeconds' is set": ((), "set effect: NoExecute, or no seconds"),
    "exactly one of the fields in [kubeConfig clusterProfileRef] must be set": ((), "keep one of the two"),
    "field is immutable": ((), _RECREATE),
    "flavors must have the same number of resources as the coveredResources": (
        ("flavors",),
        "list every covered resource in each flavor, in the order of coveredResources",
    ),
    "minCount should be positive and less or equal to count": (("minCount",), "use 1 to count"),
    "must be unique": ((), "name each level once"),
    "only the PriorityClass kind is allowed for the scheduling.k8s.io group": (("kind",), "write kind: PriorityClass"),
    "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group": (
        ("kind",),
        "write kind: WorkloadPriorityClass, or group: scheduling.k8s.io",
    ),
    "operator must be Exists when 'key' is empty, which means 'match all values and all keys'": (
        (),
        "set a key, or operator: Exists to tolerate every taint",
    ),
    "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor": (
        ("preference",),
        "set both to TryNextFlavor, or remove preference",
    ),
    "priority should not be nil when priorityClassRef is set": (
        ("priority",),
        "set priority to the value of the class",
    ),
    "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never": (
        ("borrowWithinCohort", "policy"),
        "set it to Never, or reclaimWithinCohort to Any or LowerPriority",
    ),
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'": ((), "use one of these effects"),
    "supported toleration values: 'Equal'(default), 'Exists'": ((), "set operator to Equal or Exists"),
    "the kubernetes.io/hostname label can only be used at the lowest level of topology": ((), "put it last"),
    "topologyName is immutable when topologyName is set": (("topologyName",), _RECREATE),
    **{
        f"{field} is {_RESERVED}": (("spec", *field.split(".")), _WAIT)
        for field in (
            "maximumExecutionTimeSeconds",
            "priorityClassRef",
            "priorityClassRef.group",
            "priorityClassRef.kind",
            "queueName",
        )
    },
    "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota reserved": (
        ("spec", "priorityClassRef", "name"),
        _WAIT,
    ),
}
