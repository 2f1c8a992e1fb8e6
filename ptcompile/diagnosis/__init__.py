"""Diagnoses: which message of a job's logs is the first cause, and which line of the manifest is
to blame for it.
"""
