"""Volcano: Job."""
