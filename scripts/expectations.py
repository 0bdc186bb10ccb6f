"""Lists of what is known of a driver: cases that fail, flake or are left out."""

import fnmatch
import re


class Unreadable(Exception):
    """An input cannot be read, or says nothing useful."""


def lines_of(path):
    """The lines of a text file that say something; none when there is no such file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


class Patterns:
    """Names with * and ? in them."""

    def __init__(self, lines):
        self.lines = lines
        self.matcher = re.compile("|".join(fnmatch.translate(line) for line in lines)) if lines else None

    def match(self, name):
        return bool(self.matcher and self.matcher.match(name))

    def regular(self):
        """The same as regular expressions that mean the same everywhere."""
        return ["^" + re.escape(line).replace(r"\*", ".*").replace(r"\?", ".") + "$" for line in self.lines]


class Expectations:
    """What is known of a driver."""

    def __init__(self, folder, driver):
        self.fails = {}
        path = folder / f"{driver}-fails.txt"
        for line in lines_of(path):
            case, comma, result = line.rpartition(",")
            if not comma:
                raise Unreadable(f"{path}: not CASE,RESULT: {line}")
            self.fails[case] = result
        self.flakes = Patterns(lines_of(folder / f"{driver}-flakes.txt"))
        self.skips = Patterns(lines_of(folder / f"{driver}-skips.txt"))
