import datetime
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from headstart.text.chat import Conversation, Message, Tool, ToolCall
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError
from headstart.text.template import ChatTemplate
