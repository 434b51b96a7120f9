"""What can go wrong between a checkpoint's files, a conversation and token ids."""


class TextError(ValueError):
    """Base of this room's errors. `str()` names the cause and the way out."""


class TokenizerError(TextError):
    """The checkpoint's tokenizer is missing, broken or of a kind that is not supported."""


class TemplateError(TextError):
    """The chat template does not parse, is missing, or refuses this conversation."""
