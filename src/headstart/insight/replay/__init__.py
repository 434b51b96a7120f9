"""Replay of recorded request streams against the cache, without tensors.

`source` reads recordings of any format; `pool` is one cache, `fleet` replicas of several levels,
`replay` sends a stream through them; `optimum` says what no policy can beat and `stack` what LRU
does at every capacity. `study` makes a report of all that.
"""
