"""The local disks of machines, all of a machine's together, as quantities; a machine that is not here has none, or may.

Sources: GKE's in GiB from https://docs.cloud.google.com/compute/docs/accelerator-optimized-machines (2026-06), the most
that can be attached; EC2's in GB from aws/karpenter-provider-aws, reference/instance-types.md (2026-08-21).
"""

from __future__ import annotations

EKS_ROOT_LEFT = "17Gi"
"""What EKS's default root volume of 20 GiB leaves pods (aws/karpenter-provider-aws, types.go, 2026-08-21)."""


def _sizes(family: str, *disks: tuple[str, int]) -> dict[str, str]:
    return {f"{family}.{size}xlarge": f"{disk}G" for size, disk in disks}


_G6 = (("", 250), ("2", 450), ("4", 600), ("8", 900), ("16", 1880), ("12", 3760), ("24", 3760), ("48", 7520))
_G5 = (("", 250), ("2", 450), ("4", 600), ("8", 900), ("16", 1900), ("12", 3800), ("24", 3800), ("48", 7600))

DISKS: dict[str, str] = {
    **{f"g2-standard-{n}": "375Gi" for n in (4, 8, 12, 16, 32)},
    "g2-standard-24": "750Gi", "g2-standard-48": "1500Gi", "g2-standard-96": "3000Gi",
    "g4-standard-48": "1500Gi", "g4-standard-96": "3000Gi", "g4-standard-192": "6000Gi", "g4-standard-384": "12000Gi",
    "a2-ultragpu-1g": "375Gi", "a2-ultragpu-2g": "750Gi", "a2-ultragpu-4g": "1500Gi", "a2-ultragpu-8g": "3000Gi",
    "a3-highgpu-1g": "750Gi", "a3-highgpu-2g": "1500Gi", "a3-highgpu-4g": "3000Gi", "a3-highgpu-8g": "6000Gi",
    "a3-edgegpu-8g": "6000Gi", "a3-megagpu-8g": "6000Gi", "a3-ultragpu-8g": "12000Gi", "a4-highgpu-8g": "12000Gi",
    "a4x-highgpu-4g": "12000Gi", "a4x-maxgpu-4g-metal": "12000Gi",
    "p3dn.24xlarge": "1800G", "p4d.24xlarge": "8000G", "p4de.24xlarge": "8000G",
    "p5.4xlarge": "3800G", "p5.48xlarge": "30400G", "p5e.48xlarge": "30400G", "p5en.48xlarge": "30400G",
    "p6-b200.48xlarge": "30400G", "p6-b300.48xlarge": "30400G", "p6e-gb200.36xlarge": "22500G",
    **_sizes("g4dn", ("", 125), ("2", 225), ("4", 225), ("8", 900), ("16", 900), ("12", 900)), "g4dn.metal": "1800G",
    **_sizes("g5", *_G5), **_sizes("g6", *_G6), **_sizes("g6e", *_G5),
    **_sizes("g7e", ("2", 1900), ("4", 1900), ("8", 1900), ("12", 3800), ("24", 7600), ("48", 15200)),
    "trn1.2xlarge": "474G", "trn1.32xlarge": "7600G", "trn1n.32xlarge": "7600G", "trn2.48xlarge": "7600G",
}  # fmt: skip
"""By machine type."""
