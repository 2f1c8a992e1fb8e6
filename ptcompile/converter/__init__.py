"""`convert`: what another operator does not do the same, and references to the first operator's
labels.
"""
