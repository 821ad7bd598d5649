# Functions for the end-to-end tests. A server listens on loopback only, on a free port, and is stopped by its pid.

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_server [options]: sets PORT, PID, URL; the data folder is $WORK/data.
start_server() {
    PORT=${PORT:-$(free_port)}
    "$TIDELOCK" start --listen "127.0.0.1:$PORT" --data "$WORK/data" --http off "$@" >>"$WORK/server.log" 2>&1 &
    PID=$!
    URL="postgres://postgres@127.0.0.1:$PORT/postgres"
    export PGHOST=127.0.0.1 PGPORT=$PORT PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=10
    for _ in $(seq 1 100); do
        psql -Xqc 'select 1' >/dev/null 2>&1 && return
        kill -0 "$PID" 2>/dev/null || { cat "$WORK/server.log"; echo "the server has ended"; return 1; }
        sleep 0.1
    done
    cat "$WORK/server.log"; echo "the server does not answer"; return 1
}

stop_server() {
    kill -TERM "$PID"
    wait "$PID" || { echo "the server ended with $?"; return 1; }
}

kill_server() {
    kill -KILL "$PID"
    wait "$PID" 2>/dev/null || true
}

# The server must still be there, and answer.
server_lives() { kill -0 "$PID" && [ "$(psql -XAtc 'select 1')" = 1 ]; }

fail() { echo "FAILED: $*"; exit 1; }

# expect VALUE COMMAND...: the command prints exactly this.
expect() {
    local wanted="$1" got; shift
    got=$("$@" 2>&1) || true
    [ "$got" = "$wanted" ] || fail "$* printed '$got', not '$wanted'"
}

sql() { psql -XAtq -v ON_ERROR_STOP=1 -c "$1"; }

trap 'kill -KILL ${PID:-} 2>/dev/null || true' EXIT
