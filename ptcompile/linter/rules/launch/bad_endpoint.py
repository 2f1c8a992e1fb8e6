"""torchrun cannot read the rendezvous endpoint and does not start.

PTC417 bad-endpoint: error at run (fails), by torchrun.
Needs: {RENDEZVOUS_WORDS} endpoint/elasticPolicy/addr/ip

What: --rdzv-endpoint or PET_RDZV_ENDPOINT is not HOST:PORT: a URL, an invalid port, or no port at
all with a static rendezvous.

Why: torchrun raises ValueError before it connects. A scheme such as http:// is not part of an
endpoint.

Example: pod.yaml with

      command:
        - torchrun
        - --rdzv-backend=c10d
    -   - --rdzv-endpoint=tcp://localhost:29400  # <--
    +   - --rdzv-endpoint=localhost:29400
        - train.py

Fix: write HOST:PORT, the host without a scheme.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/utils.py, parse_rendezvous_endpoint, and
static_tcp_rendezvous.py.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import BACKENDS, is_literal, why_not_endpoint


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("bad-endpoint"):
        yield found_at(
            role.endpoint_path, obstacle.sentence, f"write one of them, {obstacle.better}"
        )

    for role in subject.torchrun_roles:
        endpoint = role.options.get("rdzv-endpoint", "")
        backend = role.rendezvous.backend
        if backend not in BACKENDS or not is_literal(endpoint) or "," in endpoint:
            continue

        why = why_not_endpoint(endpoint, static=backend == "static")
        if why is not None:
            yield found_at(
                role.path_of("rdzv-endpoint"),
                f"torchrun does not start with the endpoint {endpoint!r}: {why}",
                "write HOST:PORT, the host without a scheme",
            )
