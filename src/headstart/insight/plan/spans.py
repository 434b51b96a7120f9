"""How many (query, key) pairs positions `begin` … `end` - 1 attend to, by the mask.

Each query sees itself and what lies before it. Exact: S positions from 0 see S (S + 1) / 2 keys,
where the simpler formula says S² without the causal mask and S² / 2 with it.
"""


def causal(begin: int, end: int) -> int:
    """All earlier positions."""
    return _triangle(end) - _triangle(begin)


def windowed(begin: int, end: int, window: int) -> int:
    """At most the last `window` positions, the query's own among them."""
    middle = min(max(begin, window), end)
    return causal(min(begin, middle), middle) + (end - middle) * window


def chunked(begin: int, end: int, chunk: int) -> int:
    """Earlier positions of the same chunk; chunks begin at multiples of `chunk`."""
    return _sawtooth(end, chunk) - _sawtooth(begin, chunk)


def _triangle(positions: int) -> int:
    return positions * (positions + 1) // 2


def _sawtooth(positions: int, chunk: int) -> int:
    whole, rest = divmod(positions, chunk)
    return whole * _triangle(chunk) + _triangle(rest)
