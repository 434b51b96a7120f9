"""Runs lowered modules with values of which only taints and shapes are known.

`machine` has the rounds; each other file is one part of it, and reaches the others through it.
"""
