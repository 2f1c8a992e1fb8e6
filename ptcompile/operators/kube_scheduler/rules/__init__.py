"""Rules for gangs of Kubernetes."""
