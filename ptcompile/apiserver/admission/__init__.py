"""Admission plugins: what refuses an object that is valid by itself."""
