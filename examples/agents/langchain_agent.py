"""One session of LangChain: an agent with one tool, five turns, two requests each.

Usage: langchain_agent.py DIALECT URL MODEL, with a session (see run.py) on stdin.
Prints one line of JSON per request.
"""

import json
import sys

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)

dialect, url, model = sys.argv[1:]
session = json.load(sys.stdin)
weather: dict[str, str] = session["weather"]
EPHEMERAL = {"type": "ephemeral"}
KEY = {"api_key": "anything", "max_retries": 0}

TOOL = {
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": list(weather)}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


def chat_model() -> BaseChatModel:
    """The model behind the dialect asked for; each vendor's package takes seconds to import."""
    match dialect:
        case "openai chat" | "openai responses":
            from langchain_openai import ChatOpenAI

            return ChatOpenAI(
                model=model,
                base_url=f"{url}/v1",
                max_tokens=96,
                temperature=0,
                use_responses_api=dialect == "openai responses",
                stream_usage=True,
                **KEY,
            )
        case "anthropic":
            from langchain_anthropic import ChatAnthropic

            # The newest version of the API takes no temperature.
            return ChatAnthropic(
                model=model,
                base_url=url,
                max_tokens=96,
                default_headers={"anthropic-version": "2023-06-01"},
                model_kwargs={"extra_body": {"temperature": 0}},
                **KEY,
            )
        case "gemini":
            from langchain_google_genai import ChatGoogleGenerativeAI

            return ChatGoogleGenerativeAI(
                model=model, base_url=url, max_output_tokens=256, temperature=0, **KEY
            )
        case "deepseek":
            from langchain_deepseek import ChatDeepSeek

            return ChatDeepSeek(
                model=model, api_base=url, max_tokens=96, temperature=0, stream_usage=True, **KEY
            )
    raise SystemExit(f"no such dialect: {dialect}")


def ask(messages: list[BaseMessage], choice: str, *, stream: bool) -> AIMessage:
    """One request, whole or streamed."""
    # Anthropic's automatic marker: the end of each request is written.
    marks = {"cache_control": EPHEMERAL} if dialect == "anthropic" else {}
    # Left alone, the small model says a call twice; Gemini's API can't forbid it.
    single = {} if dialect == "gemini" else {"parallel_tool_calls": False}
    runnable = chat.bind_tools([TOOL], tool_choice=choice, **marks, **single)
    if not stream:
        return runnable.invoke(messages)
    chunks = list(runnable.stream(messages))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return message_chunk_to_message(whole)


def show(turn: int, answer: AIMessage) -> None:
    """Print what was asked and what the cache gave."""
    usage = answer.usage_metadata
    details = usage["input_token_details"]
    line = {
        "turn": turn,
        "called": [call["args"]["city"] for call in answer.tool_calls],
        "prompt": usage["input_tokens"],
        "read": details.get("cache_read", 0),
        "written": details.get("cache_creation", 0) + details.get("ephemeral_5m_input_tokens", 0),
    }
    print(json.dumps(line), flush=True)


chat = chat_model()
rules = {"type": "text", "text": session["rules"]}
if dialect == "anthropic":
    rules["cache_control"] = EPHEMERAL
messages: list[BaseMessage] = [SystemMessage([rules])]
for number, question in enumerate(session["questions"], 1):
    messages.append(HumanMessage(question))
    # A model of 135M parameters hardly calls a tool unasked.
    for choice in ("any" if dialect in ("anthropic", "gemini") else "required", "auto"):
        answer = ask(messages, choice, stream=number % 2 == 0)
        show(number, answer)
        messages.append(answer)
        for call in answer.tool_calls:
            messages.append(ToolMessage(weather[call["args"]["city"]], tool_call_id=call["id"]))
