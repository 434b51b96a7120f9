"""Keeping prompts' prefixes in a vendor's cache between their uses, for as long as it pays.

`plan_file` reads what to keep, `dialects` know the cheapest call of each API, `stakes` what calls
cost and uses save, `warming` is the state machine of one prompt and `driver` its clock and wire.
"""
