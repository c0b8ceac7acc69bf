#!/usr/bin/env bash
# Tests recordings against an S3 server: versitygw (Apache-2.0), which keeps objects as files in a folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

lane=s3
. test/built-server.sh
build_server versitygw github.com/versity/versitygw/cmd/versitygw v1.8.0 'about three minutes'

exec node test/run.mjs test/s3/*.test.ts --jobs=1
