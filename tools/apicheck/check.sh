#!/usr/bin/env bash
# Compares the API of a built program with its OpenAPI document: starts "plimsoll serve" on a free port of this machine and asks it what
# Schemathesis derives from the document. Schemathesis goes into a virtual environment below .cache; where that is not possible this says
# so and ends well.
#
#	tools/apicheck/check.sh bin/plimsoll [more arguments of "st run"]
set -euo pipefail
program=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
venv=${here}/../../.cache/apicheck
talk=$(mktemp)

missing() {
  echo "*** $1: THE API IS NOT COMPARED WITH ITS OPENAPI DOCUMENT ***" >&2
  exit 0
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || missing "no python3 from 3.10 on"
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv" >/dev/null 2>&1 || missing "python3 makes no virtual environment"
  timeout 300 "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" >/dev/null 2>&1 || missing "schemathesis cannot be installed"
  cp "$here/requirements.txt" "$venv/"
fi

"$program" serve --addr 127.0.0.1:0 2>"$talk" &
server=$!
trap 'kill $server 2>/dev/null; rm -f "$talk"' EXIT
for _ in $(seq 100); do
  url=$(sed -n 's/.*listening on \(http:[^ ]*\)\/$/\1/p' "$talk")
  [ -z "$url" ] || break
  sleep 0.1
done

# job starts a job of an operation with its example, waits for its end and prints its id.
job() {
  "$venv/bin/python" - "$url" "$1" "$2" <<'PYTHON'
import json, sys, time, urllib.request
url, operation, schema = sys.argv[1:]
ask = lambda path, body=None: json.load(urllib.request.urlopen(urllib.request.Request(url + path, body, {"Content-Type": "application/json"})))
example = ask("/api/openapi.json")["components"]["schemas"][schema]["examples"][0]
job = ask("/api/jobs/" + operation, json.dumps(example).encode())
while ask("/api/jobs/" + job["id"])["state"] in ("waiting", "running"):
    time.sleep(0.05)
print(job["id"])
PYTHON
}
PLIMSOLL_JOB=$(job plan PlanRequest)
PLIMSOLL_DELETED_JOB=$(job step StepRequest)
export PLIMSOLL_JOB PLIMSOLL_DELETED_JOB

timeout 600 "$venv/bin/st" --config-file "$here/schemathesis.toml" run "$url/api/openapi.json" --url "$url" --workers 2 --no-color "$@"
if grep -q "internal error" "$talk"; then
  echo "the server has a bug:" >&2
  grep "internal error" "$talk" >&2
  exit 1
fi
