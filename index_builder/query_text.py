"""What a query is before any index sees it: text of bounded length that UTF-8 can carry.

Queries are data. A model may send anything as one; nothing here reads a syntax into it.
"""

import re

MAX_CHARACTERS = 20_000
"""A query is cut after this many; a question has some hundreds, and a megabyte would stall everybody."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def query_text(text: str) -> str:
    """The query as indexes take it.

    Args:
        text: Whatever a model sent.

    Returns:
        Its first ``MAX_CHARACTERS`` characters without white space around them, lone surrogates
        replaced. It may be empty: an empty query is a query too.
    """
    return well_formed(text[:MAX_CHARACTERS]).strip()


def well_formed(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD.

    Python strings can hold halves of UTF-16 pairs, which JSON escapes produce and which no UTF-8
    encoder, and so no library written in Rust, accepts.

    Args:
        text: Any string.

    Returns:
        A string that encodes to UTF-8; the same object when nothing had to be replaced.
    """
    return text if text.isascii() else LONE_SURROGATE.sub(REPLACEMENT, text)
