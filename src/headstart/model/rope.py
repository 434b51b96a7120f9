"""Rotary position embedding: the table of cos and sin under every supported scaling.

Sources: RoFormer (arXiv 2104.09864); position interpolation, "linear" (arXiv 2306.15595); YaRN
(arXiv 2309.00071); "llama3" as Meta's Llama 3.1 reference code scales frequencies. None of them
depends on the length of the sequence, so a key rotated once stays right for every later request.
"""

import math

import torch
from torch import Tensor

from headstart.model.config import RopeConfig


def rope_table(
    config: RopeConfig, head_dim: int, positions: int, device: torch.device
) -> tuple[Tensor, Tensor]:
    """cos and sin, each `[positions, head_dim]` in fp32, for the half-split convention.

    Dimension i and i + head_dim / 2 form a pair, so both halves of a row hold the same values:
    `rotated = x * cos + concat(-x[half:], x[:half]) * sin`. YaRN's attention factor is in them.
    """
    frequencies = _frequencies(config, head_dim).to(device)
    angles = torch.outer(torch.arange(positions, dtype=torch.float32, device=device), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    factor = _attention_factor(config)
    return angles.cos().mul_(factor), angles.sin().mul_(factor)


def _frequencies(config: RopeConfig, head_dim: int) -> Tensor:
    """Radians per position of each pair, `[head_dim / 2]`."""
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    frequencies = 1.0 / config.theta**exponents
    match config.kind:
        case "default":
            return frequencies
        case "linear":
            return frequencies / config.factor
        case "llama3":
            return _llama3(config, frequencies)
        case "yarn":
            return _yarn(config, frequencies, head_dim)
        case "divisors":
            return frequencies / torch.tensor(config.divisors)


def _llama3(config: RopeConfig, frequencies: Tensor) -> Tensor:
    """Long waves are stretched by the factor, short ones kept, those between blended."""
    turns = config.original_max_positions * frequencies / (2 * math.pi)
    kept = (turns - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor)
    return _blend(frequencies, config.factor, kept.clamp(0.0, 1.0))


def _yarn(config: RopeConfig, frequencies: Tensor, head_dim: int) -> Tensor:
    """As llama3, but the blend is linear in the dimension, not in the number of turns."""

    def dimension(turns: float) -> float:
        """The pair that turns this often over the original context."""
        wave = config.original_max_positions / (turns * 2 * math.pi)
        return head_dim * math.log(wave) / (2 * math.log(config.theta))

    low, high = dimension(config.beta_fast), dimension(config.beta_slow)
    if config.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    if low == high:
        high += 0.001
    pairs = torch.arange(head_dim // 2, dtype=torch.float32)
    stretched = ((pairs - low) / (high - low)).clamp(0.0, 1.0)
    return _blend(frequencies, config.factor, 1.0 - stretched)


def _blend(frequencies: Tensor, factor: float, kept: Tensor) -> Tensor:
    """`kept` 1 leaves a frequency as it is, 0 divides it by the factor."""
    return kept * frequencies + (1.0 - kept) * frequencies / factor


def _attention_factor(config: RopeConfig) -> float:
    """YaRN's temperature, applied to queries and keys alike through cos and sin."""
    if config.kind != "yarn":
        return 1.0
    if config.attention_factor is not None:
        return config.attention_factor

    def scale(weight: float) -> float:
        return 1.0 if config.factor <= 1.0 else 0.1 * weight * math.log(config.factor) + 1.0

    if config.mscale and config.mscale_all_dim:
        return scale(config.mscale) / scale(config.mscale_all_dim)
    return scale(1.0)
