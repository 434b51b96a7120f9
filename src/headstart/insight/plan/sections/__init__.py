"""The parts of a plan: each turns what was asked into figures of one subject."""
