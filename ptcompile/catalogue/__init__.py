"""What ptcompile knows of hardware by name, as data with sources: accelerators, and the fabrics between their nodes."""
