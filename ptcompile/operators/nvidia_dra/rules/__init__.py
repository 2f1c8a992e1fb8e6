"""Rules for ComputeDomains."""
