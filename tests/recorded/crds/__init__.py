"""The recorder of CustomResourceDefinitions that projects publish, beside its recordings or those
of its name.
"""
