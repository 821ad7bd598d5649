"""The three things that are done with files: check against the recorded answers, record them, compare two servers."""
import re
import time

from .script import Statement, parse, show_answer, split
from .session import Session

ASPECT = re.compile(r"^(\S+\.sql)(?: \[(\w+)\])?: (.*)$")
FIELD = {name: re.compile(r" \[%s: (?:[^\]]*)\]" % name.upper()) for name in ("position", "detail", "hint")}


def schema_of(path):
    return "t_" + re.sub(r"\W", "_", path.stem).lower()


def answers(session, statement):
    """The answer's lines as they stand in a file."""
    lines, header = [], None
    for name, sql in statement.runs():
        shown, header = show_answer(name, session.execute(sql), header)
        lines += shown
    return lines


def count(statements):
    return sum(len(statement.runs()) for statement in statements)


# -- record

def record(url, files):
    for path in files:
        session = Session(url, schema_of(path))
        written = []
        for block in parse(path.read_text()):
            if isinstance(block, Statement):
                written += [block.text, *answers(session, block)]
            else:
                written.append(block)
        session.close()
        path.write_text("\n".join(written))
        print(f"recorded {path.name}: {count(b for b in parse(path.read_text()) if isinstance(b, Statement))} statements")
    return 0


# -- check

def known_differences(path):
    """(file, SQL on one line) -> the aspect that may differ, or 'all'. A reason is a comment above its entries; with inputs, the SQL is that
    of one combination, or of all when it names the inputs as the file does."""
    known = {}
    if path.exists():
        for line in path.read_text().split("\n"):
            if found := ASPECT.match(line):
                known[found[1], found[3]] = found[2] or "all"
            elif line.strip() and not line.startswith("#"):
                raise SystemExit(f"{path}: cannot read {line!r}")
    return known


def check(url, files, differences, limit):
    known, used, listed, total, failed, start = known_differences(differences), set(), 0, 0, 0, time.time()
    for path in files:
        session, wrong = Session(url, schema_of(path)), []
        statements = split(path.read_text())
        for statement in statements:
            for sql, wanted, got in check_statement(session, statement):
                keys = [(path.name, one_line(text)) for text in (statement.text, sql) if (path.name, one_line(text)) in known]
                used.update(keys)
                if any(agrees_but_for(known[key], wanted, got) for key in keys):
                    listed += 1
                    continue
                wrong.append((statement.line, sql, wanted, got))
        session.close()
        total, failed = total + count(statements), failed + len(wrong)
        for line, sql, wanted, got in wrong[:limit]:
            show_difference(f"{path.name}:{line}", sql, wanted, got)
        if wrong:
            print(f"{path.name}: {len(wrong)} of {count(statements)} differ")
    names = {path.name for path in files}
    stale = [key for key in known if key[0] in names and key not in used]
    for file, sql in stale:
        print(f"differences.txt: no longer differs: {file}: {sql}")
    print(f"{total - failed - listed} of {total} statements agree, {listed} differ as listed, {failed} otherwise ({time.time() - start:.1f} s)")
    return 1 if failed or stale or not total else 0


def check_statement(session, statement):
    """Runs that differ from the record: (SQL, wanted lines, got lines)."""
    wanted = by_run(statement, statement.answer)
    got_lines = answers(session, statement)
    if got_lines == statement.answer:
        return
    got = by_run(statement, got_lines)
    for at, (_, sql) in enumerate(statement.runs()):
        want, have = (wanted[at] if at < len(wanted) else []), (got[at] if at < len(got) else [])
        if want != have:
            yield sql, want, have


def by_run(statement, lines):
    """The answer's lines for each run: with inputs each has one `-->` line, and the header above it holds until the next."""
    if not statement.inputs:
        return [lines]
    runs, header = [], []
    for line in lines:
        if line.startswith("--:"):
            header = [line]
        else:
            runs.append(([] if "ERROR " in line else header) + [line])
    return runs


def one_line(sql):
    return " ".join(sql.split())


def agrees_but_for(aspect, wanted, got):
    if aspect == "all":
        return True
    strip = lambda lines: [FIELD[aspect].sub("", line) for line in lines]
    if aspect == "message":
        strip = lambda lines: [re.sub(r"(ERROR \w+):.*", r"\1", line) for line in lines]
    return strip(wanted) == strip(got)


def show_difference(place, sql, wanted, got):
    print(f"\n{place}: {sql}")
    for line in wanted:
        print(("  " if line in got else "- ") + line)
    for line in got:
        if line not in wanted:
            print("+ " + line)


# -- compare

def compare(server, postgres, files, limit):
    total = agreed = 0
    for path in files:
        ours, theirs, shown = Session(server, schema_of(path)), Session(postgres, schema_of(path)), 0
        for statement in split(path.read_text()):
            for name, sql in statement.runs():
                total += 1
                got, wanted = (show_answer(None, session.execute(sql), None)[0] for session in (ours, theirs))
                if got == wanted or not re.search(r"\border\s+by\b", sql, re.I) and sorted(got) == sorted(wanted):
                    agreed += 1
                elif shown < limit:
                    shown += 1
                    show_difference(f"{path.name}:{statement.line}", sql, wanted, got)
        ours.close()
        theirs.close()
    print(f"\n{agreed} of {total} statements agree ({100 * agreed / max(total, 1):.1f} %)")
    return 0 if agreed == total else 1
