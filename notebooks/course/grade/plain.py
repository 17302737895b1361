"""Text that a student may have written, made safe to show: for a terminal, XML, a CSV file and a spreadsheet."""

LONGEST = 500   # characters of one line
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are as wide as an East Asian character


def line(text):
    """One line. What cannot be printed is escaped: control characters, marks that turn text around, half characters."""
    text = str(text)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def lines(text):
    return "\n".join(line(row) for row in str(text).split("\n"))


def cell(value):
    """A cell of a CSV file: a spreadsheet computes text that begins like a formula, unless an apostrophe stands before it.
    Some leave out blanks at the begin."""
    if not isinstance(value, str):
        return value
    value = line(value)
    return f"'{value}" if value.lstrip().startswith(FORMULA) else value
