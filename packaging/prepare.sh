#!/bin/sh
# Makes what the archives and packages hold beside the program: completions and manual pages, written by the program itself, and the
# tool that packs wheels, images and bills of materials.  prepare.sh DIR EPOCH
set -eu
dir=$1 epoch=$2
export CGO_ENABLED=0
rm -rf "$dir"
mkdir -p "$dir/completions" "$dir/man"
go build -trimpath -ldflags '-s -w' -o "$dir/plimsoll" ./cmd/plimsoll
go -C tools build -trimpath -o "../$dir/pack" ./pack
"$dir/plimsoll" completion bash > "$dir/completions/plimsoll.bash"
"$dir/plimsoll" completion zsh > "$dir/completions/_plimsoll"
"$dir/plimsoll" completion fish > "$dir/completions/plimsoll.fish"
"$dir/plimsoll" completion powershell > "$dir/completions/plimsoll.ps1"
"$dir/plimsoll" help --man-dir "$dir/man"
for page in "$dir"/man/*.1; do
  gzip -9nc "$page" > "$page.gz" # without a name and a time
done
for f in "$dir"/completions/* "$dir"/man/*; do
  touch -d "@$epoch" "$f" # nfpm takes the times of files
done
