"""Replay of recorded request streams against the cache, without tensors.

`traces` reads the recordings, `optimum` says what no policy can beat.
"""
