#!/usr/bin/env bash
# Holds conversations in rooms of a real LiveKit server. The server is built from its Go module the first time, and stays
# in the user's cache folder. Its version is the newest whose dependencies can be had as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=v1.13.5
folder=${XDG_CACHE_HOME:-$HOME/.cache}/parley/livekit-$version
server=$folder/server

skip() {
  echo "livekit: skipped, because $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
}

if [ ! -x "$server" ]; then
  command -v go >/dev/null || skip 'there is no Go to build the LiveKit server with'
  echo "livekit: builds the LiveKit server $version in $folder (about five minutes, 75 MB, the first time)"
  mkdir -p "$folder"
  GOBIN=$folder go install -p 2 "github.com/livekit/livekit-server/cmd/server@$version" >"$folder.log" 2>&1 ||
    skip "the LiveKit server could not be built: $(tail -n 1 "$folder.log")"
fi

node -e 'require.resolve("@livekit/rtc-node"); require.resolve("livekit-server-sdk")' 2>/dev/null ||
  skip 'the optional packages @livekit/rtc-node and livekit-server-sdk are not installed'

PARLEY_TEST_LIVEKIT=$server exec node test/run.mjs test/livekit/*.test.ts --jobs=1
