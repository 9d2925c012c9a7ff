set -euo pipefail
cd "$(dirname "$0")"
URL="${URL:-http://127.0.0.1:8000}"
server= failed=0

# fail says what went wrong and goes on: the other runs count without it.
fail() {
  echo "$1" >&2
  failed=1
}

stop() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
  sleep 5 # until the memory of the devices is free
}
trap stop EXIT

# start FOLDER starts its server and waits until it answers.
start() {
  echo "starting $1 (its log: $1/server.log)"
  bash "$1/serve.sh" > "$1/server.log" 2>&1 &
  server=$!
  local i
  for ((i = 0; i < ${START_TIMEOUT:-1800}; i++)); do
    if curl -sf -o /dev/null "$URL/health"; then return 0; fi
    if ! kill -0 "$server" 2>/dev/null; then
      tail -n 30 "$1/server.log" >&2
      fail "the server of $1 ended: see $1/server.log"
      return 1
    fi
    sleep 1
  done
  fail "the server of $1 did not answer in ${START_TIMEOUT:-1800} s"
  return 1
}
