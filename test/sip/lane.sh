#!/usr/bin/env bash
# Tests trunks against SIPp and baresip, two third-party SIP programs. If Debian's packages are not installed, the
# packages and their libraries are unpacked in the user's cache folder, which needs no root. With --programs the script
# runs no test, and prints the variables with the programs' paths for test/run.mjs.
set -euo pipefail
cd "$(dirname "$0")/../.."

lane=sip
. test/built-server.sh

download() {
  (cd "$folder/packages" && timeout 120 apt-get download "$@") >"$folder/download.log" 2>&1
}

# Container images usually have no package lists. In them the user is root, and may fetch the lists.
may_update() { [ "$(id -u)" = 0 ]; }

# unpack NAME PROGRAM PACKAGE…: unpacks the packages into `folder`, and sets `program` to a script that runs the program
# with the libraries from these packages.
unpack() {
  local name=$1 path=$2
  shift 2
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/parley/$name
  program=$folder/run
  if [ -x "$program" ]; then return; fi
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "there is no $name, and no apt-get to download it with"
  mkdir -p "$folder/packages"
  download "$@" || { may_update && apt-get update -qq >/dev/null 2>&1 && download "$@"; } ||
    skip "$name could not be downloaded: $(tail -n 1 "$folder/download.log")"
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder"; done
  # Only this program may find these libraries, because they must not replace Node's libraries.
  local paths
  paths=$(find "$folder" -name '*.so*' -not -path '*/modules/*' -printf '%h\n' | sort -u | paste -sd:)
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s%s "$@"\n' "$paths" "$folder" "$path" >"$program"
  chmod +x "$program"
}

if command -v sipp >/dev/null; then
  PARLEY_SIPP=$(command -v sipp)
else
  unpack sip-tester /usr/bin/sipp sip-tester libgsl27 libgslcblas0 libncursesw6 libtinfo6 libpcap0.8 libsctp1 libdbus-1-3
  PARLEY_SIPP=$program
fi
# SIPp exits with 99 after it has printed its version.
{ "$PARLEY_SIPP" -v 2>/dev/null || true; } | grep -q SIPp || skip 'sipp does not start on this system'

if command -v baresip >/dev/null; then
  PARLEY_BARESIP=$(command -v baresip)
  PARLEY_BARESIP_MODULES=$(find /usr/lib -type d -path '*/baresip/modules' | head -n 1)
else
  unpack baresip /usr/bin/baresip baresip-core libre0 librem0 libsndfile1 libflac12 libvorbis0a libvorbisenc2 libogg0 libopus0 \
    libmpg123-0 libmp3lame0
  PARLEY_BARESIP=$program
  PARLEY_BARESIP_MODULES=$folder/usr/lib/baresip/modules
fi
[ -f "$PARLEY_BARESIP_MODULES/sndfile.so" ] || skip 'baresip has no module sndfile on this system'
export PARLEY_SIPP PARLEY_BARESIP PARLEY_BARESIP_MODULES

if [ "${1:-}" = --programs ]; then printenv | grep -E '^PARLEY_(SIPP|BARESIP)'; exit; fi

make --no-print-directory dist/main.js
exec node test/run.mjs test/sip/*.test.ts --jobs=1
