#!/usr/bin/env bash
# Holds conversations in rooms of a real LiveKit server. This is the newest version whose dependencies can be downloaded
# unchanged.
set -euo pipefail
cd "$(dirname "$0")/../.."

lane=livekit
. test/built-server.sh
build_server livekit github.com/livekit/livekit-server/cmd/server v1.13.5 'about five minutes, 75 MB'

node -e 'require.resolve("@livekit/rtc-node"); require.resolve("livekit-server-sdk")' 2>/dev/null ||
  skip 'the optional packages @livekit/rtc-node and livekit-server-sdk are not installed'

PARLEY_TEST_LIVEKIT=$server exec node test/run.mjs test/livekit/*.test.ts --jobs=1
