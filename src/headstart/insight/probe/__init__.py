"""`headstart probe`: whether an endpoint reuses prefixes, how long it keeps them and how many.

Pure: `script` (what is asked next), `steps`, `capacity`, `lifetime` and `retention` (scripts),
`prompts`, `wires` (one file per dialect), `recognise`, `ratio`, `signs`, `verdict`, `remarks`,
`findings`, `report`, `render`; `cost`, which reads prices.
I/O: `endpoint` (one request), `meet` (what the endpoint is), `drive` (runs a script), `probe` (the
order of things), `main`, `command`.
"""
