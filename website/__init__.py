"""Builds the documentation site, and runs what the documentation shows. No part of the package."""
