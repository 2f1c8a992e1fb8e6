"""Rules for gangs of Kubernetes: their groups."""
