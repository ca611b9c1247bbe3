"""Checksums of a request part by part, by which a replay tells where a request began to differ.

The journal holds a hash of every request, not its bytes: a conversation is sent anew each turn. A few
digits a message are enough to name the first one that is not what it was.
"""

import re
import struct
import zlib

MESSAGE_START = b'"role":'
"""Stands in every message that someone says, in every provider's format, and in the text of none.

Items that nobody says, such as the outputs of tools in some formats, belong to the message before them.
"""

DIGITS = 8
SHOWN = 60
"""Bytes of the request that are shown on either side of a place."""


def checksums(body: bytes) -> str:
    """One checksum for what stands before the first message, and one from each message to the next."""
    parts = body.split(MESSAGE_START)
    return struct.pack(f">{len(parts)}I", *map(zlib.crc32, parts)).hex()


def first_difference(recorded: str, body: bytes) -> str:
    """Where a request leaves the recorded one, in words.

    Args:
        recorded: The checksums of the other request, "" when they are not known.
        body: This request.
    """
    if not recorded:
        return f"somewhere in its {len(body)} bytes"
    position = 0
    known = re.findall(f".{{{DIGITS}}}", recorded)
    for number, part in enumerate(body.split(MESSAGE_START)):
        if number == len(known):
            return f"from byte {position} of {len(body)}: message {number} was not there"
        if known[number] != checksums(part):
            where = f"in message {number}" if number else "before the first message"
            return f"{where}, within {len(part)} bytes from byte {position} of {len(body)}: {_shown(part)}"
        position += len(part) + len(MESSAGE_START)
    return f"after byte {len(body)}: {len(known)} parts were recorded and it has {number + 1}"


def _shown(part: bytes) -> str:
    """The beginning and the end of a part."""
    if len(part) <= 2 * SHOWN:
        return part.decode("utf-8", "replace")
    return f"{part[:SHOWN].decode('utf-8', 'replace')} … {part[-SHOWN:].decode('utf-8', 'replace')}"
