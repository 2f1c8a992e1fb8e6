"""Runs of a real cluster: what simulate and status say of them, and what records them."""
