"""The language server: ptcompile's analyses in an editor.

`protocol` speaks the Language Server Protocol through pygls and runs everything else on one worker
thread. Diagnostics with their fixes, completion, hover, definitions, symbols, and lenses with hints
have one module each. `document` is one version of a text, `cursor` locates the cursor in a text
that may not parse, and `schema` lists what a path may contain. The server does not read files
itself: the command line supplies the configuration and the workspace files (`workspace`).
"""
