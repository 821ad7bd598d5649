"""One connection, and what the server says to each statement: columns with their types, rows, the tag, errors and notices with all their fields.

It speaks through libpq in the simple protocol, so that values arrive as the text the server wrote, and no driver has looked at them.
"""
from dataclasses import dataclass, field

from psycopg import pq

SETTINGS = """set timezone = 'UTC'; set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres'; set client_min_messages = notice;
set default_transaction_isolation = 'read committed'"""
FIELDS = (
    ("DETAIL", pq.DiagnosticField.MESSAGE_DETAIL),
    ("HINT", pq.DiagnosticField.MESSAGE_HINT),
    ("POSITION", pq.DiagnosticField.STATEMENT_POSITION),
)
# A statement that has no answer by then will not have one.
STATEMENT_TIMEOUT = "5s"


@dataclass
class Answer:
    """What a statement was answered. `columns` is None when it returns no rows."""

    columns: list = None
    rows: list = None
    messages: list = field(default_factory=list)

    def error(self):
        return next((message for message in self.messages if message.startswith("ERROR")), None)


class Session:
    """A connection with a schema of its own."""

    def __init__(self, url, schema):
        self.url, self.schema, self.notices = url, schema, []
        self.types = {}
        self.connect()
        self.execute(f"drop schema if exists {schema} cascade")
        self.notices.clear()
        self.must(f"create schema {schema}")
        self.must(f"set search_path = {schema}")

    def connect(self):
        self.connection = pq.PGconn.connect(self.url.encode())
        if self.connection.status != pq.ConnStatus.OK:
            raise SystemExit(f"{self.url}: {self.connection.error_message.decode()}")
        # A notice is gone once its handler returns.
        self.connection.notice_handler = lambda notice: self.notices.append(report(notice))
        for setting in SETTINGS.split(";"):
            self.must(setting)
        self.must(f"set statement_timeout = '{STATEMENT_TIMEOUT}'")
        for oid, name in self.must("select oid, format_type(oid, null) from pg_type").rows:
            self.types[int(oid)] = name

    def must(self, sql):
        answer = self.execute(sql)
        if answer.error():
            raise SystemExit(f"{self.url}: {sql}: {answer.error()}")
        return answer

    def close(self):
        self.execute("rollback")
        self.execute("set client_min_messages = error")
        self.execute(f"drop schema {self.schema} cascade")
        self.connection.finish()

    def execute(self, sql):
        """Runs one statement. A lost connection is an answer, too; the next statement gets a new one."""
        self.notices.clear()
        result = self.connection.exec_(sql.encode())
        if self.connection.status != pq.ConnStatus.OK:
            self.connect()
            self.must(f"set search_path = {self.schema}")
            return Answer(messages=["ERROR: THE CONNECTION WAS LOST"])
        return self.read(sql, result)

    def read(self, sql, result):
        answer = Answer()
        status = result.status
        if status == pq.ExecStatus.TUPLES_OK:
            answer.columns = [(text(result.fname(at)), self.type_name(result, at)) for at in range(result.nfields)]
            answer.rows = [[text(result.get_value(row, at)) for at in range(result.nfields)] for row in range(result.ntuples)]
        elif status == pq.ExecStatus.COPY_OUT:
            answer.rows = self.copied_out()
        elif status == pq.ExecStatus.COPY_IN:
            self.connection.put_copy_end(b"no data here")
            self.connection.get_result()
            answer.messages.append("ERROR: COPY FROM STDIN is not for these files")
        elif status in (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.NONFATAL_ERROR):
            answer.messages.append(report(result))
        tag = text(result.command_status) or ""
        if tag and not tag.startswith("SELECT") and not " ".join(sql.upper().split()).startswith(tag):
            answer.messages.append(tag)
        answer.messages += self.notices
        return answer

    def copied_out(self):
        rows = []
        while True:
            length, data = self.connection.get_copy_data(0)
            if length < 0:
                self.connection.get_result()
                return rows
            rows.append([bytes(data).decode().rstrip("\n")])

    def type_name(self, result, at):
        """The type with its modifier, as PostgreSQL writes it; types made by the script have no name that is known here."""
        name, modifier = self.types.get(result.ftype(at), "user type"), result.fmod(at)
        return name if modifier == -1 else f"{name}({modifier})"


def text(value):
    return None if value is None else bytes(value).decode()


def report(result):
    """An error or a notice on one line, fields that are absent left out."""

    def get(code):
        value = result.error_field(code)
        return value.decode() if value else None

    line = f"{get(pq.DiagnosticField.SEVERITY)} {get(pq.DiagnosticField.SQLSTATE)}: {get(pq.DiagnosticField.MESSAGE_PRIMARY)}"
    for name, code in FIELDS:
        if value := get(code):
            line += f" [{name}: {value}]"
    return line.replace("\n", "\\n")
