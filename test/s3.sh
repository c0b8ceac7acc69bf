#!/usr/bin/env bash
# Tests recordings against a server that speaks the protocol of S3: versitygw, Apache-2.0, which keeps objects as files in a
# folder. It is built once (about three minutes) and stays in the user's cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v1.8.0
folder=${XDG_CACHE_HOME:-$HOME/.cache}/parley/versitygw-$version

skip() {
  echo "s3: skipped, because $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
}

if [ ! -x "$folder/versitygw" ]; then
  command -v go >/dev/null || skip 'there is no Go, which builds versitygw'
  mkdir -p "$folder"
  echo "s3: builds versitygw $version in $folder (about three minutes, the first time)"
  GOBIN=$folder go install -p 1 "github.com/versity/versitygw/cmd/versitygw@$version" >"$folder/build.log" 2>&1 ||
    skip "versitygw could not be built: $(tail -n 1 "$folder/build.log")"
fi
exec node test/run.mjs test/s3/*.test.ts --jobs=1
