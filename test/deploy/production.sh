#!/usr/bin/env bash
# Runs the commands of docs/run-it.md in an empty Debian 13, and upgrades a node under load. See production/main.ts.
#
# debootstrap makes the empty system once, in the user's cache folder. Each run puts a new overlay on it for the server,
# and a second overlay for the build machine. They are in separate namespaces, so all mounts and processes end with the
# script, even after a crash. The nodes and their clients have two network namespaces, joined by one cable, without
# other networks.
set -euo pipefail
cd "$(dirname "$0")/../.."

# A calm machine with two cores needs half of this time.
timeout_s=${PARLEY_TEST_TIMEOUT_S:-600}
suite=trixie
base=${XDG_CACHE_HOME:-$HOME/.cache}/parley/debian13-empty

skip() {
  echo "production: skipped, because $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
}

# Prints the Debian mirror in this machine's apt sources, or nothing if they name no mirror.
mirror_of_apt() {
  apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 -E '/debian/?$' || true
}

install_debootstrap() {
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >"$base.log" 2>&1
}

make_base() {
  local mirror
  mirror=$(mirror_of_apt)
  [ -n "$mirror" ] || skip 'the apt sources name no mirror of Debian'
  echo "production: makes an empty Debian 13 in $base (half a minute, 220 MB, the first time)"
  rm -rf "$base"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$base" "$mirror" >"$base.log" 2>&1 ||
    skip "debootstrap failed: $(tail -n 1 "$base.log")"
  touch "$base/.complete"
}

# Puts an overlay over the empty system. Packages come from this machine's sources, and no package starts a service.
make_machine() {
  local folder=$1 root=$1/root
  mkdir -p "$folder/changes" "$folder/work" "$root"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$folder/changes,workdir=$folder/work" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp" -o mode=1777
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '127.0.0.1 localhost\n192.0.2.10 voice.example.com\n' >"$root/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/lane"
  [ ! -f "$HOME/.npmrc" ] || install -m 600 "$HOME/.npmrc" "$root/root/.npmrc"
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp "$NODE_EXTRA_CA_CERTS" "$root/etc/ssl/machine.crt"
}

make_networks() {
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
  ip netns add server
  ip netns add client
  ip -n server link add wire type veth peer name wire netns client
  ip -n server address add 192.0.2.10/24 dev wire
  for last in 20 {101..140}; do ip -n client address add "192.0.2.$last/24" dev wire; done
  for side in server client; do
    ip -n "$side" link set lo up
    ip -n "$side" link set wire up
  done
}

# Runs the test as process 1 of its namespace. The machines write only to memory (3 GB), because dpkg would wait for a
# disk after each file.
run_inside() {
  mount -t proc proc /proc
  mount -t tmpfs tmpfs "$run" -o size=8g,mode=755
  make_machine "$run/server"
  make_machine "$run/build-machine"
  # The build machine's `scp` copies files to this folder.
  mkdir -p "$run/build-machine/root/srv/of-server"
  mount --bind "$run/server/root/opt" "$run/build-machine/root/srv/of-server"
  make_networks
  # The client finds the server by its name.
  mount --bind "$run/server/root/etc/hosts" /etc/hosts
  PARLEY_TEST_ROOTS=$run timeout --kill-after=10 "$timeout_s" ${PARLEY_TEST_PROGRAM:-node --import tsx} test/deploy/production/main.ts
}

if [ "${1:-}" = inside ]; then
  run=$2
  run_inside
  exit
fi

[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'it needs Linux on x86_64'
[ "$(id -u)" = 0 ] || skip 'only root can make a root directory of Debian'
mkdir -p "$(dirname "$base")"
command -v ip >/dev/null || skip 'there is no iproute2'
command -v debootstrap >/dev/null || install_debootstrap || skip "debootstrap is not installed: $(tail -n 1 "$base.log")"
unshare --mount --pid --net --fork true 2>/dev/null || skip 'namespaces are not allowed here'
exec 9>"$base.lock"
flock 9
[ -f "$base/.complete" ] || make_base
run=$(mktemp -d "$base.run-XXXXXX")
trap 'rm -rf "$run"' EXIT
code=0
unshare --mount --pid --fork --kill-child --propagation private "$0" inside "$run" || code=$?
[ "$code" != 124 ] || echo "0 passed, 1 failed: it took longer than $timeout_s s"
exit "$code"
