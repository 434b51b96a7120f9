"""Chat completions that tenants have kept, in memory."""

from collections.abc import Iterator

from headstart.dialects.openai.stored_chat import StoredChat, chat_not_found
from headstart.server.shelf import BUDGET_BYTES, Shelf

BESIDES_BYTES = 1024
"""Of a completion, all but its JSON."""


class KeptChats:
    """One tenant's chat completions, the oldest first."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._chats = Shelf(_size, budget)

    def __iter__(self) -> Iterator[StoredChat]:
        return iter(self._chats)

    def keep(self, chat: StoredChat) -> None:
        """Keep a completion, or what has become of it; the oldest make room."""
        self._chats.put(chat.id, chat)
        for _ in self._chats.trim():
            pass

    def get(self, name: str) -> StoredChat:
        """Raises ApiError 404."""
        chat = self._chats.get(name)
        if chat is None:
            raise chat_not_found(name)
        return chat

    def delete(self, name: str) -> None:
        """Raises ApiError 404."""
        self._chats.pop(self.get(name).id)


def _size(chat: StoredChat) -> int:
    return BESIDES_BYTES + len(chat.body) + len(chat.messages)
