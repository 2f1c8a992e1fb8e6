"""Rules for gangs of Kubernetes: their pods."""
