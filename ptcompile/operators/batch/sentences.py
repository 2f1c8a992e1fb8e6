"""What the target job writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import COUNTED, ENDING

SENTENCES: Mapping[str, str] = {
    **ENDING,
    **COUNTED,
    "subdomain": "Pods in the subdomain of the headless Service find each other by name.",
    "clusterIP": "A Service without an address of its own gives each pod a DNS name.",
    "publishNotReadyAddresses": (
        "Names resolve before pods are ready, so no pod waits for a probe that waits for the rendezvous."
    ),
    "selector": "The Service is for the pods of this Job.",
}
