"""The line that Claude Code puts in front of a system prompt: a header, though it is in the body.

`x-anthropic-billing-header: cc_version=…; cc_entrypoint=…; cch=…;` has hashes that change from
request to request. It is for Anthropic's servers, who take it out: Claude Code marks it as never
cached and reads what stands behind it again. vLLM takes it out too (vllm-project/vllm#36829); where
it is read as text, nothing behind it is found (anthropics/claude-code#68900).
"""

CLIENT_LINE = "x-anthropic-billing-header:"


def without_client_line(text: str) -> str:
    """What is left of the first block of a system prompt; it may be nothing."""
    return text.partition("\n")[2] if text.startswith(CLIENT_LINE) else text
