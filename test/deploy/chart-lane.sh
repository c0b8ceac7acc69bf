#!/usr/bin/env bash
# Tests the Helm chart with helm. If helm is not installed, it is built from its Go module.
set -euo pipefail
cd "$(dirname "$0")/../.."

lane=helm
. test/built-server.sh
if command -v helm >/dev/null; then
  server=$(command -v helm)
else
  build_server helm helm.sh/helm/v3/cmd/helm v3.19.0 'about three minutes'
fi
export PARLEY_TEST_HELM=$server

exec node test/run.mjs test/deploy/chart.test.ts --jobs=1
