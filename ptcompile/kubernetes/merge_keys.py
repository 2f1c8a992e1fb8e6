"""By which key Kubernetes merges the items of a list in a pod template (strategic merge; core/v1)."""

MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
}
"""The key by which a patch finds the item it means, as strategic merge patch does (Kubernetes 1.36, core/v1)."""

OBJECT_KEYS = {
    **MERGE_KEYS,
    "replicatedJobs": "name",
    "tasks": "name",
    "dependsOn": "name",
    "runtimePatches": "manager",
}
"""With those of the operators' own objects, for a spec's `manifest`."""
