"""`headstart chat`: talk to a server and see, turn by turn, what its prefix cache saved."""

from typing import Annotated

import typer

DEFAULT_URL = "http://127.0.0.1:8000/v1"


def chat(
    url: Annotated[str, typer.Option(help="Base URL of the server (…/v1).")] = DEFAULT_URL,
    model: Annotated[
        str | None, typer.Option(help="Model or LoRA adapter. Default: the server's first.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="HEADSTART_API_KEY", help="Sent as a bearer token.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="System prompt.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest answer, in tokens.")] = 512,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Default: the server's own.")
    ] = None,
) -> None:
    """Chat in the terminal. Ctrl-C stops an answer; /reset starts over; Ctrl-D or /exit leaves."""
    import httpx

    from headstart.insight import http
    from headstart.insight.repl import Repl, terminal_lines
    from headstart.insight.turn import ChatEndpoint
    from headstart.insight.wire import EndpointError

    with httpx.Client(
        headers=http.headers(api_key), timeout=http.timeout(), trust_env=http.is_remote(url)
    ) as client:
        endpoint = ChatEndpoint(client, url)
        try:
            options = {"model": model or endpoint.first_model(), "max_tokens": max_tokens}
        except EndpointError as error:
            typer.secho(f"headstart chat: {error}", err=True, fg="red")
            raise typer.Exit(1) from None
        chosen = {} if temperature is None else {"temperature": temperature}
        Repl(endpoint, options | chosen, system).run(terminal_lines())
