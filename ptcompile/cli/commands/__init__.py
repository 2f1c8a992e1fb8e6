"""Scripts for the Tab key, a shell a module: each has `script`, from the commands to the text."""
