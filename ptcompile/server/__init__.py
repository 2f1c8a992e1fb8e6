"""The language server: what the other verbs know, where people type.

`protocol` speaks the Language Server Protocol by pygls and runs everything else on one worker thread; diagnostics with
their fixes, completion, hover, definitions, symbols, and lenses with hints have a module each. `document` is one text
at one moment, `cursor` says where in a text the cursor is, whether it can be parsed or not, `schema` what may stand
there. Nothing here reads a file: the command line hands over the configuration and the files of the workspace
(`workspace`).
"""
