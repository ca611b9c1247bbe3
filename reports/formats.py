"""How figures are written for people: one way for each kind, everywhere the same.

An undefined figure is a dash, never a zero and never "nan".
"""

UNDEFINED = "–"
MINUS = "−"


def percent(share: float | None) -> str:
    """A fraction as a percentage without its sign, which stands in the column's head."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def points(difference: float | None) -> str:
    """A difference of fractions as signed percentage points."""
    if difference is None:
        return UNDEFINED
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", MINUS)


def span(low: str, high: str) -> str:
    """From the lowest to the highest figure of several; one figure where these are the same."""
    return low if low == high else f"{low} to {high}"


def interval(low: float | None, high: float | None) -> str:
    """A confidence interval in percentage points."""
    return UNDEFINED if low is None or high is None else f"[{points(low)}, {points(high)}]"


def p_value(p: float | None) -> str:
    """A p-value; below one in ten thousand only that is said."""
    if p is None:
        return UNDEFINED
    if p < 1e-4:
        return "< 1e-4"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def p_sentence(p: float | None) -> str:
    """A p-value with its name, for running text."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def count(n: int | None) -> str:
    """A whole number with separators."""
    return UNDEFINED if n is None else f"{n:,}"


def number(value: float | None, digits: int = 2) -> str:
    """A mean, with so many digits."""
    return UNDEFINED if value is None else f"{value:,.{digits}f}"


def usd(amount: float) -> str:
    """Money: cents as a rule, more digits where there would be none, nothing where there is none."""
    if amount == 0:
        return "0"
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"
