"""What ptcompile knows by name, as data with sources: accelerators, fabrics between their nodes, torch's options."""
