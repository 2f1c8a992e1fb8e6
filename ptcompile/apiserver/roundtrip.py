"""The form of an object after Go has decoded and encoded it, as a mutating webhook does.

A field that Go always writes appears with its zero value: a container without a name gets `name: ""`, which satisfies a
schema that only requires the field. A null list item becomes an empty object or string. Only fields that affect a
schema check are listed: those that are required and always written (Kubernetes 1.36 core/v1 types, JobSet 0.12, Volcano
1.16, Trainer 2.3). Unknown fields and values of a wrong type are left unchanged.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import JsonDict, without_nulls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    FieldShapes = JsonDict
    """Shape of each field: a dict of fields, a list of one shape, `STRINGS`, or under `ZERO` the fields always
    written."""


ZERO = ""
"""Key of a shape's zero values that Go always writes. No field has an empty name."""

STRINGS = "strings"
"""Shape of a list of strings."""


def as_go_reads(spec: Any, shape: FieldShapes, loose: FieldShapes, *, complete: bool) -> Any:
    """Return a spec as a webhook decodes it: without nulls, and with the values that Go adds.

    With `complete`, only `loose` is applied: the part of `shape` that neither the schema nor `structure.is_complete`
    requires. If the result is complete by that function, the rest of `shape` would have changed nothing.
    """
    if complete and as_go_writes(spec, loose) is spec:
        return spec
    return as_go_writes(without_nulls(spec), shape)


def as_go_writes(value: Any, shape: Any) -> Any:
    """Return the value with the null items and missing fields that Go fills in, or the same object if nothing
    changes.
    """
    if isinstance(shape, list):
        return _items_as_go_writes(value, shape[0])
    if shape is STRINGS:
        return [v if v is not None else "" for v in value] if isinstance(value, list) and None in value else value
    if not isinstance(value, dict):
        return value
    changed: JsonDict | None = None
    for key in value if len(value) < len(shape) else shape:
        old = value.get(key)
        inner = shape.get(key)
        if type(old) is str or old is None or not inner or key == ZERO:
            continue
        new = as_go_writes(old, inner)
        if new is not old:
            changed = {**value} if changed is None else changed
            changed[key] = new
    for key, zero in shape.get(ZERO, {}).items():
        if value.get(key) is None:
            changed = {**value} if changed is None else changed
            changed[key] = as_go_writes(zero, shape[key]) if isinstance(zero, dict) and key in shape else zero
    return value if changed is None else changed


def _items_as_go_writes(value: Any, shape: Any) -> Any:
    if not isinstance(value, list):
        return value
    changed: list[Any] | None = None
    for index, item in enumerate(value):
        new = as_go_writes({} if item is None else item, shape)
        if new is not item:
            changed = [*value] if changed is None else changed
            changed[index] = new
    return value if changed is None else changed


def _named_shape(**fields: Any) -> FieldShapes:
    return {ZERO: {"name": ""}, **fields}


_KEY: FieldShapes = {ZERO: {"key": ""}}
_EXPRESSION: FieldShapes = {ZERO: {"key": "", "operator": ""}, "values": STRINGS}
_SELECTOR: FieldShapes = {"matchExpressions": [_EXPRESSION]}
_FIELD: FieldShapes = {ZERO: {"fieldPath": ""}}
_RESOURCE: FieldShapes = {ZERO: {"resource": ""}}
_HANDLER: FieldShapes = {
    "exec": {"command": STRINGS},
    "httpGet": {ZERO: {"port": 0}, "httpHeaders": [{ZERO: {"name": "", "value": ""}}]},
    "tcpSocket": {ZERO: {"port": 0}},
    "grpc": {ZERO: {"port": 0}},
}
_SECURITY: FieldShapes = {
    "seccompProfile": {ZERO: {"type": ""}},
    "appArmorProfile": {ZERO: {"type": ""}},
    "sysctls": [{ZERO: {"name": "", "value": ""}}],
}
_ENV: FieldShapes = _named_shape(
    valueFrom={
        "fieldRef": _FIELD,
        "resourceFieldRef": _RESOURCE,
        "configMapKeyRef": _KEY,
        "secretKeyRef": _KEY,
        "fileKeyRef": {ZERO: {"volumeName": "", "path": "", "key": ""}},
    }
)
_CONTAINER: FieldShapes = _named_shape(
    command=STRINGS,
    args=STRINGS,
    env=[_ENV],
    ports=[{ZERO: {"containerPort": 0}}],
    volumeMounts=[{ZERO: {"name": "", "mountPath": ""}}],
    volumeDevices=[{ZERO: {"name": "", "devicePath": ""}}],
    resources={"claims": [_named_shape()]},
    resizePolicy=[{ZERO: {"resourceName": "", "restartPolicy": ""}}],
    restartPolicyRules=[{ZERO: {"action": ""}, "exitCodes": {ZERO: {"operator": ""}}}],
    livenessProbe=_HANDLER,
    readinessProbe=_HANDLER,
    startupProbe=_HANDLER,
    lifecycle={
        "postStart": {**_HANDLER, "sleep": {ZERO: {"seconds": 0}}},
        "preStop": {**_HANDLER, "sleep": {ZERO: {"seconds": 0}}},
    },
    securityContext=_SECURITY,
)
_ITEMS: list[FieldShapes] = [{ZERO: {"key": "", "path": ""}}]
_DOWNWARD: list[FieldShapes] = [{ZERO: {"path": ""}, "fieldRef": _FIELD, "resourceFieldRef": _RESOURCE}]
_CLAIM: FieldShapes = {"selector": _SELECTOR, "dataSource": {ZERO: {"kind": "", "name": ""}}}
_VOLUME: FieldShapes = _named_shape(
    hostPath={ZERO: {"path": ""}},
    nfs={ZERO: {"server": "", "path": ""}},
    persistentVolumeClaim={ZERO: {"claimName": ""}},
    configMap={"items": _ITEMS},
    secret={"items": _ITEMS},
    downwardAPI={"items": _DOWNWARD},
    csi={ZERO: {"driver": ""}},
    iscsi={ZERO: {"targetPortal": "", "iqn": "", "lun": 0}},
    cephfs={ZERO: {"monitors": None}},
    rbd={ZERO: {"monitors": None, "image": ""}},
    glusterfs={ZERO: {"endpoints": "", "path": ""}},
    gitRepo={ZERO: {"repository": ""}},
    flexVolume={ZERO: {"driver": ""}},
    azureFile={ZERO: {"secretName": "", "shareName": ""}},
    azureDisk={ZERO: {"diskName": "", "diskURI": ""}},
    awsElasticBlockStore={ZERO: {"volumeID": ""}},
    gcePersistentDisk={ZERO: {"pdName": ""}},
    cinder={ZERO: {"volumeID": ""}},
    portworxVolume={ZERO: {"volumeID": ""}},
    quobyte={ZERO: {"registry": "", "volume": ""}},
    scaleIO={ZERO: {"gateway": "", "system": "", "secretRef": None}},
    vsphereVolume={ZERO: {"volumePath": ""}},
    ephemeral={"volumeClaimTemplate": {ZERO: {"spec": {}}, "spec": _CLAIM}},
    projected={
        ZERO: {"sources": None},
        "sources": [
            {
                "secret": {"items": _ITEMS},
                "configMap": {"items": _ITEMS},
                "downwardAPI": {"items": _DOWNWARD},
                "serviceAccountToken": {ZERO: {"path": ""}},
                "clusterTrustBundle": {ZERO: {"path": ""}},
            }
        ],
    },
)
_NODE_TERM: FieldShapes = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_POD_TERM: FieldShapes = {ZERO: {"topologyKey": ""}, "labelSelector": _SELECTOR, "namespaceSelector": _SELECTOR}
_POD_AFFINITY: FieldShapes = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_POD_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {ZERO: {"weight": 0, "podAffinityTerm": {}}, "podAffinityTerm": _POD_TERM}
    ],
}
POD_SPEC: FieldShapes = {
    ZERO: {"containers": None},
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "ephemeralContainers": [_CONTAINER],
    "volumes": [_VOLUME],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                ZERO: {"nodeSelectorTerms": None},
                "nodeSelectorTerms": [_NODE_TERM],
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {ZERO: {"weight": 0, "preference": {}}, "preference": _NODE_TERM}
            ],
        },
        "podAffinity": _POD_AFFINITY,
        "podAntiAffinity": _POD_AFFINITY,
    },
    "hostAliases": [{ZERO: {"ip": ""}, "hostnames": STRINGS}],
    "resourceClaims": [_named_shape()],
    "resources": {"claims": [_named_shape()]},
    "readinessGates": [{ZERO: {"conditionType": ""}}],
    "schedulingGates": [_named_shape()],
    "imagePullSecrets": [{}],
    "tolerations": [{}],
    "topologySpreadConstraints": [
        {ZERO: {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": ""}, "labelSelector": _SELECTOR}
    ],
    "securityContext": _SECURITY,
    "os": _named_shape(),
    "dnsConfig": {"nameservers": STRINGS, "searches": STRINGS, "options": [{}]},
}
POD_TEMPLATE: FieldShapes = {ZERO: {"spec": {}}, "spec": POD_SPEC}
_EXIT_CODES: FieldShapes = {ZERO: {"operator": "", "values": None}}
JOB_SPEC: FieldShapes = {
    ZERO: {"template": {}},
    "template": POD_TEMPLATE,
    "selector": _SELECTOR,
    "podFailurePolicy": {
        ZERO: {"rules": None},
        "rules": [
            {
                ZERO: {"action": ""},
                "onExitCodes": _EXIT_CODES,
                "onPodConditions": [{ZERO: {"type": "", "status": ""}}],
            }
        ],
    },
    "successPolicy": {ZERO: {"rules": None}, "rules": [{}]},
}
JOB_TEMPLATE: FieldShapes = {ZERO: {"spec": {}}, "spec": JOB_SPEC}
