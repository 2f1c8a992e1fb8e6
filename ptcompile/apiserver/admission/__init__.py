"""Admission plugins, which may reject objects that are valid on their own."""
