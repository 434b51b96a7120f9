"""`headstart lint-code`: what breaks a prompt's prefix, found in the source that makes it.

Python (`python`), JavaScript and TypeScript (`javascript`) are lowered to one small language
(`ir`), which `machine` runs with values of which only taints and shapes are known. `language` and
each language's `names` say where taints begin and end, `sinks` where a prompt is sent, `prompt`
what may differ in it without harm. `jinja` reads prompt templates. `lint` is all of it on text,
`main` on files.
"""
