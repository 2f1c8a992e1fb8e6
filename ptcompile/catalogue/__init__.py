"""What ptcompile knows by name, as data with sources: accelerators, the fabrics between their nodes, torch's options."""
