"""How `source.py` reads: a fast reader for clean documents, an exact one for all others, and JSON streams."""
