"""Diagnoses of logs."""
