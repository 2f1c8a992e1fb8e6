"""The language server: what the other verbs know, where people type.

`protocol` speaks the Language Server Protocol by pygls and runs everything else on one worker thread; a module each for
diagnostics, fixes, completion, hover, definitions, symbols, hints and commands. `document` is one text at one moment,
`place` says where in a text the cursor is, whether it can be parsed or not, `shapes` what may stand there. Nothing
here reads a file: the command line hands over the configuration and the files of the workspace (`surroundings`).
"""
