"""`headstart probe`: whether an endpoint reuses prefixes, how long it keeps them and how many.

Pure: `script` (what is asked next), `steps`, `capacity`, `lifetime` (three scripts), `prompts`,
`wires` (one file per dialect), `recognise`, `signs`, `verdict`, `ratio`, `cost`, `report`.
I/O: `endpoint` (one request), `meet` (what the endpoint is), `drive` (runs a script), `main`.
"""
