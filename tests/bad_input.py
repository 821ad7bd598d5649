#!/usr/bin/env python3
"""Throws malformed messages and absurd statements at a server. Each case must leave the server answering and its memory bounded."""
import os, socket, struct, subprocess, sys

port, pid = int(sys.argv[1]), int(sys.argv[2])
MEMORY_KB_MAX = 1_500_000


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def startup(user="postgres", database="postgres", extra=()):
    body = struct.pack("!i", 196608)
    for part in ("user", user, "database", database, *extra):
        body += part.encode() + b"\0"
    return framed(b"", body + b"\0")


def framed(tag, body):
    return tag + struct.pack("!i", len(body) + 4) + body


def read_all(connection):
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except (socket.timeout, ConnectionError):
        pass
    return data


def send(connection, data):
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # The server had enough, which is its right.


def ready():
    connection = connect()
    connection.sendall(startup())
    data = b""
    while b"Z\0\0\0\5I" not in data:
        chunk = connection.recv(65536)
        assert chunk, data
        data += chunk
    return connection


def raw(*pieces, expect=None, close_write=True):
    """Sends pieces on a fresh socket; `expect` must be in the answer."""
    connection = connect()
    for piece in pieces:
        send(connection, piece)
    if close_write:
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    answer = read_all(connection)
    connection.close()
    assert expect is None or expect in answer, (pieces[0][:40], answer[:200])


def statement(sql, state):
    """A statement that must fail with this SQLSTATE, on a session that goes on afterwards."""
    connection = ready()
    send(connection, framed(b"Q", sql + b"\0"))
    data = b""
    connection.settimeout(60)
    while not data.endswith((b"Z\0\0\0\5I", b"Z\0\0\0\5E")):
        chunk = connection.recv(65536)
        if not chunk:
            break
        data += chunk
    connection.close()
    assert b"C" + state + b"\0" in data, (sql[:60], data[:300])


def memory_kb():
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def alive():
    out = subprocess.run(["psql", "-XAtqc", "select 1"], capture_output=True, text=True, timeout=30)
    assert out.stdout.strip() == "1", out.stderr
    assert memory_kb() < MEMORY_KB_MAX, memory_kb()


CASES = {
    "nothing at all": lambda: raw(b""),
    "half a length word": lambda: raw(b"\0\0"),
    "garbage": lambda: raw(os.urandom(4096)),
    "http": lambda: raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    "startup of 1 GiB": lambda: raw(struct.pack("!ii", 1 << 30, 196608), b"x" * 1000),
    "negative length": lambda: raw(struct.pack("!ii", -1, 196608)),
    "length of zero": lambda: raw(struct.pack("!ii", 0, 196608)),
    "unknown protocol": lambda: raw(framed(b"", struct.pack("!i", 1 << 16) + b"user\0x\0\0"), expect=b"E"),
    "no terminator": lambda: raw(framed(b"", struct.pack("!i", 196608) + b"user")),
    "no such database": lambda: raw(startup(database="nowhere"), expect=b"3D000"),
    "bad setting at startup": lambda: raw(startup(extra=("no_such_setting", "1")), expect=b"42704"),
    "cancel with a wrong key": lambda: raw(struct.pack("!iiii", 16, 80877102, 1, 2)),
    "message of 1 GiB": lambda: after_startup(b"Q" + struct.pack("!i", 1 << 30) + b"x" * 1000),
    "message of 2 GiB": lambda: after_startup(b"Q" + struct.pack("!i", 0x7fffffff)),
    "message with a negative length": lambda: after_startup(b"Q" + struct.pack("!i", -5)),
    "unknown message": lambda: after_startup(framed(b"~", b"x")),
    "query without terminator": lambda: after_startup(framed(b"Q", b"select 1")),
    "bind of garbage": lambda: after_startup(framed(b"B", os.urandom(50)) + framed(b"S", b"")),
    "bind that promises 60000 values": lambda: after_startup(framed(b"B", b"\0\0\0\0" + struct.pack("!H", 60000)) + framed(b"S", b"")),
    "execute of nothing": lambda: after_startup(framed(b"E", b"nope\0" + struct.pack("!i", -1)) + framed(b"S", b"")),
    "copy data out of the blue": lambda: after_startup(framed(b"d", b"1\t2\n") + framed(b"c", b"")),
    "invalid utf-8": lambda: statement(b"select '\xff\xfe'", b"22021"),
    "syntax error": lambda: statement(b"selec 1", b"42601"),
    "100,000 parentheses": lambda: statement(b"select " + b"(" * 100_000 + b"1" + b")" * 100_000, b"54001"),
    "100,000 subqueries": lambda: statement(b"select (" * 100_000 + b"1" + b")" * 100_000, b"54001"),
    "100,000 nots": lambda: statement(b"select " + b"not " * 100_000 + b"true", b"54001"),
    "100,000 minuses": lambda: statement(b"select " + b"- " * 100_000 + b"1", b"54001"),
    "100,000 cases": lambda: statement(b"select " + b"case when true then " * 100_000 + b"1" + b" end" * 100_000, b"54001"),
    "100,000 array brackets": lambda: statement(b"select " + b"array[" * 100_000 + b"1" + b"]" * 100_000, b"54001"),
    "100 MB literal that is no integer": lambda: statement(b"select '" + b"x" * 100_000_000 + b"'::int", b"22P02"),
    "numeric of 200,000 digits": lambda: statement(b"select 1" + b"0" * 200_000, b"22003"),
    "division by zero": lambda: statement(b"select 1/0", b"22012"),
    "unknown table": lambda: statement(b"select * from no_such_table", b"42P01"),
    "unknown function": lambda: statement(b"select no_such_function(1)", b"42883"),
    "five million long rows in a nested loop": lambda: statement(b"select count(*) from generate_series(1, 2) a left join (select repeat('x', 1000) || g as x from generate_series(1, 5000000) g) b on b.x < a::text", b"53200"),
}


def after_startup(data):
    connection = ready()
    send(connection, data)
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    read_all(connection)
    connection.close()


failed = 0
for name, case in CASES.items():
    try:
        case()
        alive()
        print("ok     ", name)
    except Exception as error:
        failed += 1
        print("FAILED ", name, type(error).__name__, str(error)[:300])
print(f"{len(CASES) - failed} of {len(CASES)} cases, {memory_kb()} kB resident")
sys.exit(1 if failed else 0)
