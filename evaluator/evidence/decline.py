"""Whether an answer says that it cannot answer.

A short, conservative list of ours: an answer that declines and still names something ("I cannot be
sure, but probably Lyon") is an answer. It feeds ``declined_rate`` and the setting ``decline``.
"""

import re

from evaluator.evidence.normalise import normalise_answer

_WHOLE = frozenset(
    {
        "unknown",
        "the answer is unknown",
        "not known",
        "no answer",
        "no answer found",
        "not found",
        "the answer was not found",
        "not available",
        "not specified",
        "not mentioned",
        "unanswerable",
        "no information",
        "no information found",
        "no information available",
        "cannot answer",
        "cannot determine",
        "cannot say",
        "i cannot say",
        "i cannot tell",
    }
)
_START = re.compile(
    r"""(?:(?:i\ am|im)\ )?(?:sorry\ )?(?:but\ )?(?:unfortunately\ )?(?:based\ on\ [\w\ ]{1,60}?\ )?(?:
      (?:i|we)\ (?:
          (?:cannot|can\ not|cant|could\ not|couldnt|(?:am|was|were)\ unable\ to|(?:am|was)\ not\ able\ to)
            \ (?:\w+ly\ )?(?:answer|determine|find|identify|provide|confirm|verify|establish)
        | (?:do\ not|dont)\ (?:know|have\ (?:enough|sufficient|any)\ (?:information|evidence))
        | did\ not\ find | didnt\ find
      )
    | (?:unable\ to|cannot)\ (?:answer|determine|find|identify)
    | (?:the\ answer|the\ question|this|it)?\ ?(?:cannot|can\ not|cant|could\ not)\ be
        \ (?:determined|answered|found|identified)
    | the\ answer\ is\ not\ (?:known|available|found|provided|given|mentioned|stated)
    | (?:there\ is\ )?(?:not\ enough|insufficient|no\ sufficient)\ (?:information|evidence|data)
    )\b""",
    re.VERBOSE,
)
_STILL_ANSWERS = re.compile(r"\b(?:but|however|likely|probably|possibly|perhaps|guess|maybe)\b")


def is_decline(answer: str) -> bool:
    """Whether this answer declines to answer; an empty one does not, it says nothing."""
    text = normalise_answer(answer, drop_articles=False)
    if text in _WHOLE or answer.strip().casefold() in {"n/a", "n.a."}:
        return True
    start = _START.match(text)
    return start is not None and not _STILL_ANSWERS.search(text, start.end())
