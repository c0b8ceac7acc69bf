#!/usr/bin/env bash
# Tests trunks against SIPp, a SIP program that others have written. It comes from Debian: where it is not installed, its
# package and the libraries are unpacked in the user's cache folder, which needs no root.
set -euo pipefail
cd "$(dirname "$0")/../.."

lane=sip
. test/built-server.sh

if command -v sipp >/dev/null; then
  PARLEY_SIPP=$(command -v sipp)
else
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/parley/sip-tester
  PARLEY_SIPP=$folder/sipp
  if [ ! -x "$PARLEY_SIPP" ]; then
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip 'there is no sipp, and no apt-get to download it with'
    mkdir -p "$folder/packages"
    libraries='libgsl27 libgslcblas0 libncursesw6 libtinfo6 libpcap0.8 libsctp1 libdbus-1-3'
    (cd "$folder/packages" && apt-get download sip-tester $libraries) >"$folder/download.log" 2>&1 ||
      skip "sipp could not be downloaded: $(tail -n 1 "$folder/download.log")"
    for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder"; done
    # Only sipp may find these libraries: they must not replace those of Node.
    paths=$(find "$folder" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/usr/bin/sipp "$@"\n' "$paths" "$folder" >"$PARLEY_SIPP"
    chmod +x "$PARLEY_SIPP"
  fi
fi
# It ends with 99 after it has shown its version.
{ "$PARLEY_SIPP" -v 2>/dev/null || true; } | grep -q SIPp || skip 'sipp does not start on this system'
export PARLEY_SIPP

exec node test/run.mjs test/sip/*.test.ts --jobs=1
