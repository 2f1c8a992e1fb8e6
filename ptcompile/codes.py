"""The code of every rule, by name. A code is given once and never reused or renumbered.

Families: 0xx files and specs, 1xx resources and GPUs, 2xx scheduling and queues, 3xx storage and shared memory,
4xx env, launch and rendezvous, 5xx what an API server or an operator's webhook refuses, 6xx conversion, 7xx restart
and end, 8xx style, 9xx ptcompile's own.
"""

CODES: dict[str, str] = {
    # 0xx: the file as text and as YAML
    "yaml-syntax": "PTC001",
    "bad-encoding": "PTC002",
    "duplicate-key": "PTC003",
    "too-large": "PTC004",
    "too-deep": "PTC005",
    "too-many-aliases": "PTC006",
    "unsupported-yaml": "PTC007",
    "not-a-mapping": "PTC008",
    "no-documents": "PTC009",
    "unknown-kind": "PTC010",
    # 02x: our own two kinds
    "spec-unknown-field": "PTC021",
    "spec-missing-field": "PTC022",
    "spec-wrong-type": "PTC023",
    "spec-invalid-value": "PTC024",
    "spec-conflict": "PTC025",
    "unsupported-by-target": "PTC026",
    "name-too-long": "PTC027",
    "unknown-target": "PTC028",
    # 1xx: resources
    "request-above-limit": "PTC101",
    "gpu-request-differs-from-limit": "PTC102",
    "more-processes-than-gpus": "PTC103",
    "idle-gpus": "PTC104",
    "partial-fabric": "PTC110",
    # 3xx: storage
    "shm-above-memory-limit": "PTC301",
    "missing-shm": "PTC302",
    # 4xx: env and rendezvous
    "reserved-env": "PTC401",
    # 5xx: what the API server answers, by the server's own kinds of error
    "unknown-field": "PTC501",
    "wrong-type": "PTC502",
    "invalid-quantity": "PTC503",
    "required-value": "PTC510",
    "invalid-value": "PTC511",
    "unsupported-value": "PTC512",
    "not-found-value": "PTC513",
    "duplicate-value": "PTC514",
    "forbidden-value": "PTC515",
    "too-long-value": "PTC516",
    "too-many-items": "PTC517",
    "version-unknown-field": "PTC518",
    # 55x: what an operator's webhook or controller answers
    "webhook-refusal": "PTC551",
    "refused-child": "PTC552",
    "controller-failure": "PTC553",
    # 6xx: conversion
    "not-carried-over": "PTC601",
    # 7xx: restart and end
    "no-retries-left": "PTC701",
    "peers-fail-too": "PTC702",
    "done-differently": "PTC703",
    # 9xx: ptcompile's own comments
    "unused-ignore": "PTC901",
    "bad-ignore": "PTC902",
}
