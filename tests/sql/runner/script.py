"""A file of SQL statements and their answers.

Files are plain SQL, so psql runs them too. A statement ends at its semicolon; the comment lines right below it that begin with `--:` (names
and types of the columns), `-->` (a row, a command tag, an error or a notice) are its answer:

    select upper('tide'), 1 as n;
    --: upper text | n integer
    --> TIDE | 1

A table of inputs makes one statement of each combination. `{x}` stands for the input, and `~` ties inputs that go together. The answers name the inputs:

    -- each x: 'tide' | '' | null
    -- each from ~ to: 1 ~ 2 | 2 ~ 9
    select substring({x} from {from} for {to});

In an answer NULL is `∅`; a value that would be misread (empty, blanks at its ends, a bar, a line break) is quoted as in JSON.
"""
import itertools
import json
import re
from dataclasses import dataclass, field

DIRECTIVE = re.compile(r"^--\s*each\s+([\w ~]+):\s?(.*)$")
ANSWER = re.compile(r"^--[:>]")
DOLLAR = re.compile(r"\$(\w*)\$")


@dataclass
class Statement:
    """One statement as it stands in the file, with its inputs and its recorded answer."""

    text: str
    line: int
    inputs: list = field(default_factory=list)
    answer: list = field(default_factory=list)

    def runs(self):
        """Pairs of (inputs, SQL), one for each combination; a statement without inputs has one, with no name."""
        if not self.inputs:
            return [(None, self.text)]
        return [combination(self.text, choice) for choice in itertools.product(*self.inputs)]


def combination(text, choice):
    values = {name: value for group in choice for name, value in group}
    sql = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), text)
    return ", ".join(values.values()), sql


def parse_inputs(line):
    """`-- each a ~ b: 1 ~ 2 | 3 ~ 4` as a list of choices, each a list of (name, value)."""
    found = DIRECTIVE.match(line)
    names = [name.strip() for name in found[1].split("~")]
    choices = []
    for choice in re.split(r"\s+\|(?:\s+|$)", found[2].strip()):
        values = [value.strip() for value in re.split(r"\s+~\s+", choice)] if len(names) > 1 else [choice.strip()]
        if len(values) != len(names):
            raise ValueError(f"{line}: {choice!r} is not {len(names)} values")
        choices.append(list(zip(names, values)))
    return choices


def parse(source):
    """The blocks of a file, in order: strings (kept as they are) and statements. A list of inputs goes on over lines that begin with `--  |`."""
    blocks, inputs, lines, at = [], [], source.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        if ANSWER.match(line) and blocks and isinstance(blocks[-1], Statement):
            blocks[-1].answer.append(line)
        elif not line.strip() or line.startswith("--"):
            blocks.append(line)
            if DIRECTIVE.match(line):
                while at + 1 < len(lines) and re.match(r"^--\s+\|", lines[at + 1]):
                    at += 1
                    blocks.append(lines[at])
                    line += " " + lines[at][2:].strip()
                inputs.append(parse_inputs(line))
        else:
            end = statement_end(lines, at)
            blocks.append(Statement("\n".join(lines[at : end + 1]), at + 1, inputs))
            inputs, at = [], end
        at += 1
    return blocks


def statement_end(lines, start):
    """The line on which the statement that begins at `start` ends: a semicolon outside of quotes, comments, and BEGIN ATOMIC ... END."""
    quote, atomic = None, False
    for number in range(start, len(lines)):
        line, at = lines[number], 0
        while at < len(line):
            rest = line[at:]
            if quote:
                if rest.startswith(quote):
                    at += len(quote)
                    quote = None
                else:
                    at += 2 if quote == "\\'" and rest[0] == "\\" else 1
            elif rest.startswith("--"):
                break
            elif rest[0] in "'\"":
                quote, at = rest[0], at + 1
            elif rest.startswith("/*"):
                quote, at = "*/", at + 2
            elif found := DOLLAR.match(rest):
                quote, at = found[0], at + len(found[0])
            elif re.match(r"begin\s+atomic\b", rest, re.I):
                atomic, at = True, at + 5
            elif atomic and re.match(r"end\s*;", rest, re.I):
                return number
            elif rest[0] == ";" and not atomic:
                return number
            else:
                at += 1
    return len(lines) - 1


def split(source):
    """The statements of any SQL file, answers and inputs ignored or used as above."""
    return [block for block in parse(source) if isinstance(block, Statement)]


def show_value(value):
    """A value as an answer shows it."""
    if value is None:
        return "∅"
    if value == "" or value != value.strip() or any(mark in value for mark in ("|", "\n", "∅", "\r", "\t")) or value[0] == '"' and value[-1] == '"':
        return json.dumps(value, ensure_ascii=False)
    return value


def show_answer(name, answer, header):
    """The lines of one run, and the header that now stands; it is repeated only when it changes."""
    lines = []
    if answer.columns is not None:
        wanted = " | ".join(f"{column} {kind}" for column, kind in answer.columns)
        if wanted != header:
            lines.append(f"--: {wanted}".rstrip())
            header = wanted
    prefix = "--> " if name is None else f"--> {name} => "
    shown = [" | ".join(show_value(value) for value in row) for row in answer.rows or []] + answer.messages
    if name is not None:
        shown = [" / ".join(text.replace("\n", " ") for text in shown)]
    return lines + [(prefix + text).rstrip() for text in shown], header
