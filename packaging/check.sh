#!/usr/bin/env bash
# Makes a release twice from clones of this commit, compares the bytes, and installs and runs what this machine can: the deb, the rpm,
# the wheel in a fresh environment, the image without a container engine, other platforms' binaries under emulators. It lists what it skips. "make release-check" runs it;
# CACHE=shared lets the second build use the compiler's results of the first, which is faster and proves less.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
work=${RELEASE_WORK:-$(mktemp -d)}
mkdir -p "$work"
[ -n "${RELEASE_WORK:-}" ] || trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
failed=0
done_() { echo "ok    $*"; }
skip() { echo "SKIP  $*"; }
fail() { echo "FAIL  $*"; failed=1; }
[ -z "$(git status --porcelain)" ] || echo "note: uncommitted changes are not part of what is checked"

build() { # DIR FROM
  [ -d "$1" ] || git clone -q "$2" "$1"
  make -C "$1" --no-print-directory ${GORELEASER:+GORELEASER="$GORELEASER"} release > "$1.log" 2>&1 || { tail -20 "$1.log"; echo "FAIL  make release in $1"; exit 1; }
}
build "$work/first" .
(
  export TZ=Asia/Tokyo
  umask 077
  [ "${CACHE:-}" = shared ] || export GOCACHE="$work/cache"
  build "$work/another/place" "$work/first" # the same commit, even if this repository changes meanwhile
)
sums() { (cd "$1/dist" && find . -type f ! -name 'config.yaml' ! -name 'artifacts.json' ! -name 'metadata.json' ! -path './plimsoll_*/*' | LC_ALL=C sort | xargs sha256sum); }
sums "$work/first" > "$work/first.sums"
sums "$work/another/place" > "$work/second.sums"
if diff "$work/first.sums" "$work/second.sums"; then done_ "two builds, same bytes: $(wc -l < "$work/first.sums") files"; else fail "two builds differ"; fi

dist=$work/first/dist
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) && done_ "SHA256SUMS: $(wc -l < "$dist/SHA256SUMS") files" || fail "SHA256SUMS"
arch=$(go env GOARCH)
want=$("$dist/plimsoll_linux_$arch"_*/plimsoll version)
for f in "$dist"/*.tar.gz "$dist"/*.zip "$dist"/*.deb "$dist"/*.rpm "$dist"/*.whl; do
  [ -s "$f.cdx.json" ] || fail "no bill of materials of $f"
done

# Binaries of other platforms run under emulators and must print the same plan, byte for byte. Windows' need Wine 9.0: older releases lack a library that Go needs.
plan() { "$@" plan Qwen/Qwen3-8B --gpus 2 --system h200_sxm --isl 2000 --osl 300 --ttft 1000 --tpot 20 --no-changes --json | tr -d '\r'; }
mine=$(plan "$dist/plimsoll_linux_$arch"_*/plimsoll)
other() { # NAME EMULATOR BINARY
  if ! command -v "$2" > /dev/null; then
    skip "$1: no $2"
  elif WINEPREFIX=$work/wine WINEDEBUG=-all "$2" "$3" version > "$work/other.log" 2>&1; then
    if [ "$(WINEPREFIX=$work/wine WINEDEBUG=-all plan "$2" "$3")" = "$mine" ]; then done_ "$1: the same plan under $2"; else fail "$1: another plan under $2"; fi
  else
    cat "$work/other.log"
    skip "$1: $2 does not start it"
  fi
}
other "Linux on ARM" qemu-aarch64-static "$(echo "$dist"/plimsoll_linux_arm64_*/plimsoll)"
other Windows wine64 "$(echo "$dist"/plimsoll_windows_amd64_*/plimsoll.exe)"

deb=$(echo "$dist"/*_linux_"$arch".deb)
if [ "$(id -u)" = 0 ] && command -v dpkg > /dev/null && ! dpkg -s plimsoll > /dev/null 2>&1 && [ ! -e /usr/bin/plimsoll ]; then
  dpkg -i "$deb" > /dev/null
  if [ "$(/usr/bin/plimsoll version)" = "$want" ] && [ -s /usr/share/man/man1/plimsoll-lint.1.gz ] && dpkg -V plimsoll; then
    dpkg -r plimsoll > /dev/null
    if [ -e /usr/bin/plimsoll ]; then fail "deb: files are left"; else done_ "deb: installed, run, removed"; fi
  else
    dpkg -r plimsoll > /dev/null
    fail "deb"
  fi
elif command -v dpkg-deb > /dev/null; then
  dpkg-deb -x "$deb" "$work/deb"
  [ "$("$work/deb/usr/bin/plimsoll" version)" = "$want" ] && done_ "deb: unpacked and run (installing needs root and a system without plimsoll)" || fail "deb"
else
  skip "deb: no dpkg"
fi

rpm=$(echo "$dist"/*_linux_"$arch".rpm)
if [ "$(id -u)" = 0 ] && command -v rpm > /dev/null; then
  root=$work/rpm
  mkdir -p "$root"
  rpm --root "$root" --initdb
  rpm --root "$root" -i --nodeps --nosignature "$rpm" 2> /dev/null # Debian's rpm warns that packages there are debs
  got=$("$root/usr/bin/plimsoll" version)
  rpm --root "$root" -V --nodeps plimsoll || fail "rpm: rpm -V"
  rpm --root "$root" -e plimsoll 2> /dev/null
  if [ "$got" = "$want" ] && [ ! -e "$root/usr/bin/plimsoll" ]; then done_ "rpm: installed below a root of its own, run, removed"; else fail "rpm"; fi
else
  skip "rpm: needs rpm, and root"
fi

# The image: its files as a container has them, as its user, on a read-only root.
image=$work/image
"$work/first/.cache/release/pack" unpack "$dist/image" "$arch" "$image"
port=$((20000 + RANDOM % 20000))
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null; then
  how="read-only root, user 65532"
  IMAGE=$image PORT=$port unshare -m sh -c 'mount --bind "$IMAGE" "$IMAGE" && mount -o remount,ro,bind "$IMAGE" && exec chroot --userspec=65532:65532 "$IMAGE" /usr/bin/plimsoll serve --addr "127.0.0.1:$PORT"' 2> "$work/serve.log" &
else
  how="only its binary: a namespace needs root"
  "$image/usr/bin/plimsoll" serve --addr "127.0.0.1:$port" 2> "$work/serve.log" &
fi
pid=$!
answer=
for _ in $(seq 100); do
  answer=$( (exec 3<> "/dev/tcp/127.0.0.1/$port" && printf 'GET /api/devices?q=h200_sxm HTTP/1.0\r\nHost: localhost:%s\r\n\r\n' "$port" >&3 && cat <&3) 2> /dev/null) && break
  sleep 0.2
done
kill $pid 2> /dev/null || true
wait $pid || true
case $answer in
  *'200 OK'*h200_sxm*) done_ "image: serve answers ($how)" ;;
  *) cat "$work/serve.log"; fail "image: serve: $answer" ;;
esac

whl=$(echo "$dist"/*manylinux*"$(uname -m)".whl)
if command -v python3 > /dev/null; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$whl"
  if [ "$("$work/venv/bin/plimsoll" version)" = "$want" ]; then done_ "wheel: installed in a fresh environment"; else fail "wheel: plimsoll version"; fi
  if (cd "$work" && "$work/venv/bin/python" "$work/first/python/tests/test_plimsoll.py" > "$work/python.log" 2>&1); then
    done_ "wheel: python/tests ($(grep -ao 'Ran [0-9]* tests' "$work/python.log"))"
  else
    cat "$work/python.log"
    fail "wheel: python/tests"
  fi
  if "$work/venv/bin/pip" install -q --disable-pip-version-check mypy typing_extensions > /dev/null 2>&1; then
    (cd "$work" && venv/bin/mypy --strict -p plimsoll "--python-executable=$work/venv/bin/python" > mypy.log 2>&1 && venv/bin/mypy --strict first/python/tests/test_plimsoll.py >> mypy.log 2>&1) && done_ "wheel: mypy --strict" || { cat "$work/mypy.log"; fail "wheel: mypy --strict"; }
  else
    skip "mypy: the package index is out of reach"
  fi
  if "$work/venv/bin/pip" install -q --disable-pip-version-check uv > /dev/null 2>&1; then
    if [ "$("$work/venv/bin/uvx" -q --offline --no-config --from "$whl" plimsoll version)" = "$want" ]; then done_ "uvx --from WHEEL plimsoll"; else fail "uvx"; fi
  else
    skip "uvx: the package index is out of reach"
  fi
else
  skip "wheels: no python3"
fi

if command -v ruby > /dev/null; then
  ruby -c "$dist/plimsoll.rb" > /dev/null && done_ "Homebrew formula: ruby -c" || fail "Homebrew formula"
else
  skip "Homebrew formula: no ruby"
fi
if command -v rubocop > /dev/null; then # with the style of Homebrew's formulas; "brew style" needs its own Ruby
  cat > "$work/rubocop.yml" << 'END'
AllCops: {NewCops: enable, SuggestExtensions: false}
Style/StringLiterals: {EnforcedStyle: double_quotes}
Style/FrozenStringLiteralComment: {Enabled: false}
Style/Documentation: {Enabled: false}
Layout/LineLength: {Max: 118, AllowedPatterns: [url]}
END
  rubocop -c "$work/rubocop.yml" --cache false "$dist/plimsoll.rb" > "$work/rubocop.log" && done_ "Homebrew formula: rubocop" || { cat "$work/rubocop.log"; fail "Homebrew formula: rubocop"; }
else
  skip "Homebrew formula: no rubocop"
fi

# The files for other systems against their published schemas.
if [ -x "$work/venv/bin/pip" ] && "$work/venv/bin/pip" install -q --disable-pip-version-check check-jsonschema pre-commit > /dev/null 2>&1; then
  fits() { # NAME COMMAND...
    if "$work/venv/bin/${@:2}" > "$work/schema.log" 2>&1; then done_ "$1"; else cat "$work/schema.log"; fail "$1"; fi
  }
  fits "Scoop manifest: Scoop's schema" check-jsonschema --schemafile packaging/schemas/scoop.json "$dist/scoop/plimsoll.json"
  fits "action.yml: the schema of actions" check-jsonschema --builtin-schema vendor.github-actions action.yml
  fits "compose.yaml: the schema of Compose" check-jsonschema --builtin-schema vendor.compose-spec packaging/serve/compose.yaml
  fits ".pre-commit-hooks.yaml: pre-commit validate-manifest" pre-commit validate-manifest .pre-commit-hooks.yaml
else
  skip "Scoop manifest, action.yml, .pre-commit-hooks.yaml: the package index is out of reach"
fi

if command -v nix-instantiate > /dev/null; then
  (cd "$work/first" && go mod vendor -o "$work/vendor")
  hash=$(nix --extra-experimental-features nix-command hash path "$work/vendor")
  if grep -q "vendorHash = \"$hash\"" flake.nix; then done_ "flake.nix: the hash of the modules"; else fail "flake.nix: vendorHash is $hash"; fi
  # Evaluated with a stand-in for nixpkgs, so that no name is undefined; building it needs nixpkgs itself.
  if made=$(nix-instantiate --eval -E 'let
      flake = import ./flake.nix;
      lib = { licenses.asl20 = "Apache-2.0"; genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names); };
      pkgs = { inherit lib; installShellFiles = null; buildGoModule = x: x; };
      made = flake.outputs { self = { outPath = ./.; }; nixpkgs = { inherit lib; legacyPackages = { x86_64-linux = pkgs; aarch64-linux = pkgs; x86_64-darwin = pkgs; aarch64-darwin = pkgs; }; }; };
    in builtins.deepSeq (builtins.mapAttrs (_: all: removeAttrs all.default [ "src" ]) made.packages) made.packages.x86_64-linux.default.meta.mainProgram' 2> "$work/nix.log") && [ "$made" = '"plimsoll"' ]; then
    done_ "flake.nix: evaluated for four systems; not built"
  else
    cat "$work/nix.log"
    fail "flake.nix: $made"
  fi
else
  skip "flake.nix: no nix"
fi

tail -30 "$work/first.log" | grep '^|'
exit $failed
