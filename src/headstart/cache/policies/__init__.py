"""Eviction policies, one file each: a class in this folder that has a `name` is one."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from headstart.cache.policies.base import Policy
from headstart.cache.policies.lru import Lru


def _found() -> Iterator[type[Policy]]:
    for file in iter_modules(__path__):
        module = import_module(f"{__name__}.{file.name}")
        for each in vars(module).values():
            own = isinstance(each, type) and each.__module__ == module.__name__
            if own and "name" in vars(each):
                yield each


POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _found()}
"""By name; a new file is in `serve`, `replay`, `plan` and their plots without another line."""

__all__ = ["POLICIES", "Lru", "Policy"]
