"""`headstart lint --fix`: requests rewritten so that more of them is read, and the proof.

A rewrite is one file. What it makes is checked by `guard`, which knows nothing of rewrites, and
stays only if a replay under the vendor's contract reads more for it and the bill is no higher.
"""
