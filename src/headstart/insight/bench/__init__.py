"""`headstart bench`: measure any OpenAI-compatible endpoint over HTTP, rivals by the same program.

Pure: `prompts`, `plan`, `scenarios`, `stats`, `flops`, `checks`, `table`, `report`.
I/O: `client` (one request), `driver` (a plan), `probe` (what the endpoint accepts), `launch` (our
own server), `machine` (facts), `run` (the order of things), `command` (the command line).
"""
