"""The MCP server: ptcompile's functions as tools of an assistant, over the Model Context Protocol.

`protocol` is the only module that imports the SDK. `tools` is the table of tools, `inputs` reads
the texts and files that a call names, and `resources` has the pages that an assistant may read. No
tool writes a file, runs a process or opens a connection.
"""
