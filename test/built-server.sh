# Lanes that test against another project's server source this file. `lane` is the lane's name. The first run builds the
# server from its Go module, and keeps it in the user's cache folder.

skip() {
  echo "$lane: skipped, because $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
}

# build_server NAME PACKAGE VERSION NOTE: builds the server if it is missing, and sets `server` to its path.
build_server() {
  local name=$1 package=$2 version=$3 note=$4
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/parley/$name-$version
  server=$folder/${package##*/}
  if [ -x "$server" ]; then return; fi
  command -v go >/dev/null || skip "there is no Go to build $name with"
  echo "$lane: builds $name $version in $folder ($note, the first time)"
  mkdir -p "$folder"
  GOBIN=$folder go install -p 2 "$package@$version" >"$folder.log" 2>&1 ||
    skip "$name could not be built: $(tail -n 1 "$folder.log")"
}
