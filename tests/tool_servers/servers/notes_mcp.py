"""A server of the Python SDK of MCP, over the transport that is asked for."""

import sys

from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("notes")


class Note(BaseModel):
    title: str
    stars: int = 0


@server.tool()
def titles(prefix: str = "") -> list[str]:
    """The titles of all notes"""
    return [title for title in ("first", "second") if title.startswith(prefix)]


@server.tool()
def note(title: str, stars: int = 3) -> Note:
    """One note"""
    return Note(title=title, stars=stars)


@server.tool()
def count() -> int:
    """How many there are"""
    return 2


@server.tool()
def broken() -> str:
    """Fails"""
    raise ValueError("the shelf is empty")


transport, *port = sys.argv[1:]
server.run(transport, **({"host": "127.0.0.1", "port": int(port[0])} if port else {}))
