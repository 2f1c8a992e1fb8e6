"""NVIDIA's DRA driver for GPUs: ComputeDomain, and the classes of devices that pods claim."""
