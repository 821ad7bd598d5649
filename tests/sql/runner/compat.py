"""`tidelock.compat`, the list of what there is of PostgreSQL, against what the server does and what docs/compat.md says."""
from .session import Session

TITLE = """# What there is of PostgreSQL

Made of `tidelock.compat` by `tests/sql/run --compat --record --server URL`; `./test end_to_end compat` runs every statement below: what is `no` is refused
with SQLSTATE 0A000 and the feature's name, the rest runs. The list is kept in `crates/sql/src/catalog/data/compat.tsv`; what differs in detail is in
`tests/sql/differences.txt`.
"""
FIXTURE = (
    "create table t (id int primary key, n int, s text, j jsonb, a int[])",
    "insert into t values (1, 1, 'a', '{}', '{1}'), (2, 2, 'b', '[]', null)",
)
SCHEMA = "t_compat"


def features(session):
    return session.must("select area, feature, support, statement, note from tidelock.compat").rows


def document(rows):
    lines, last = [TITLE], None
    for area, feature, support, statement, note in rows:
        if area != last:
            lines += ["" if last else None, f"## {area}", "", "| | | for example | |", "|---|---|---|---|"]
            last = area
        shown = statement.replace("|", "\\|")
        lines.append(f"| {feature} | {support} | `{shown}` | {note} |")
    return "\n".join(line for line in lines if line is not None) + "\n"


def wrong(session, support, statement):
    """What is wrong with a row of the list, if anything."""
    for sql in ("rollback", f"drop schema {SCHEMA} cascade", f"create schema {SCHEMA}", f"set search_path = {SCHEMA}", *FIXTURE):
        session.execute(sql)
    error = session.execute(statement).error()
    if support == "no":
        return None if error and error.startswith("ERROR 0A000") else f"should be refused with 0A000, but: {error or 'it runs'}"
    return error


def run(url, path, record):
    session = Session(url, SCHEMA)
    rows = features(session)
    if record:
        path.write_text(document(rows))
    failed = 0
    if path.read_text() != document(rows):
        failed += 1
        print(f"{path} is not what tidelock.compat says; record it anew")
    for area, feature, support, statement, _ in rows:
        if support not in ("yes", "partly", "no"):
            message = f"{support!r} is not yes, partly or no"
        else:
            message = wrong(session, support, statement)
        if message:
            failed += 1
            print(f"{area}: {feature}: {statement}: {message}")
    session.close()
    print(f"{len(rows)} features, {failed} wrong")
    return 1 if failed or not rows else 0
