"""Rules for Kubernetes objects of any kind, one package per family. Operators have their own
rules.
"""
