#!/usr/bin/env bash
# Runs tests on Debian 13 with Node 24, over the newer build of uWebSockets.js, which other systems may be too old for.
#
# debootstrap makes a root directory with Debian, and the tests run in it as a normal user, because Postgres refuses
# root. They run in separate namespaces, so all mounts and processes end with the script, even after a crash. The root
# directory stays in the user's cache folder, so only the first run takes two minutes more.
#
# The tests here depend on the engine, the sockets, Node or the system. Tests of vendors, speech engines, the generator
# and the code's rules do not, so they are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=(http ws engine compat realtime process cli store)
timeout_s=1200
node=24
suite=trixie
packages=ca-certificates,curl,git,make,procps
contents="$suite $packages node@$node /srv/dev"
root=${XDG_CACHE_HOME:-$HOME/.cache}/parley/debian13

skip() {
  echo "debian13: skipped, because $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
}

# Prints the Debian mirror in this machine's apt sources, or nothing if they name no mirror.
mirror_of_apt() {
  apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 -E '/debian/?$' || true
}

install_debootstrap() {
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >"$root.log" 2>&1
}

make_root() {
  rm -rf "$root"
  mkdir -p "$root"
  echo "debian13: makes a root of Debian in $root (about two minutes, 700 MB, the first time)"
  local log=$root.log
  debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" >"$log" 2>&1 ||
    skip "debootstrap failed: $(tail -n 1 "$log")"
  npm install --prefix "$root/opt/node" "node@$node" npm@11 >"$log" 2>&1 ||
    skip "npm could not install Node $node: $(tail -n 1 "$log")"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  chroot "$root" useradd --create-home --home-dir /srv/dev dev
  echo "$contents" >"$root/.complete"
}

# Copies the work tree without ignored files. Packages of the last run are kept if the lock file has not changed.
copy_tree() {
  local tree=$root/srv/dev/parley
  mkdir -p "$tree"
  find "$tree" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | { xargs -0 ls -d 2>/dev/null || true; } | tar -c -T - | tar -x -C "$tree"
  chroot "$root" chown -R dev:dev /srv/dev
  if cmp -s package-lock.json "$root/.package-lock.json"; then touch "$tree/node_modules/.package-lock.json"; fi
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # The machine may use another package registry, whose certificate another authority has signed.
  [ ! -f "$HOME/.npmrc" ] || install -o 1000 -g 1000 -m 600 "$HOME/.npmrc" "$root/srv/dev/.npmrc"
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp "$NODE_EXTRA_CA_CERTS" "$root/etc/ssl/machine.crt"
}

# Runs the tests. This function is process 1 of its namespace.
run_inside() {
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp" -o mode=1777
  chroot --userspec=dev:dev "$root" /usr/bin/env -i HOME=/srv/dev PATH=/opt/node/node_modules/.bin:/usr/bin:/bin \
    LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=/etc/ssl/machine.crt PARLEY_TEST_ENGINE=uws \
    ${https_proxy:+https_proxy="$https_proxy"} ${http_proxy:+http_proxy="$http_proxy"} \
    timeout --kill-after=30 "$timeout_s" bash -c '
      cd ~/parley && echo "debian13: $(. /etc/os-release && echo "$PRETTY_NAME"), Node $(node --version)" &&
      make --no-print-directory dist/main.js && ./dist/main.js doctor; node test/run.mjs "$@"' debian13 "$@"
}

if [ "${1:-}" = inside ]; then
  shift
  run_inside "$@"
  exit
fi

[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'it needs Linux on x86_64'
[ "$(id -u)" = 0 ] || skip 'only root can make a root directory of Debian'
mkdir -p "$(dirname "$root")"
command -v debootstrap >/dev/null || install_debootstrap || skip "debootstrap is not installed: $(tail -n 1 "$root.log")"
unshare --mount --pid --fork true 2>/dev/null || skip 'namespaces are not allowed here'
exec 9>"$root.lock"
flock 9
if [ "$(cat "$root/.complete" 2>/dev/null)" != "$contents" ]; then
  mirror=$(mirror_of_apt)
  [ -n "$mirror" ] || skip 'the apt sources name no mirror of Debian'
  make_root
fi
copy_tree
files=()
for folder in "${folders[@]}"; do files+=(test/"$folder"/*.test.ts); done
if [ $# -gt 0 ]; then files=("$@"); fi
code=0
unshare --mount --pid --fork --kill-child --propagation private "$0" inside "${files[@]}" || code=$?
cp package-lock.json "$root/.package-lock.json"
[ "$code" != 124 ] || echo "0 passed, 1 failed: it took longer than $timeout_s s"
exit "$code"
