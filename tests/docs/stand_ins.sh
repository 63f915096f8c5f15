# Before the lines of a page: what a line does where it would not end, or would change the machine.
# What is not here runs as it stands.
set -m # Ctrl-C reaches a whole job, as a terminal's does

# A gateway or worker goes on while the page does, once it has said that it listens or has begun.
in_background() {
  local log line
  log=$(mktemp --dry-run)
  mkfifo "$log"
  command "$@" >"$log" 2>&1 &
  exec {said}<"$log"
  rm "$log"
  while read -r line <&"$said"; do
    echo "$line" | tee --append "$MACHINE/told"
    case "$line" in
      *listening* | *'"event":"start"'*)
        cat <&"$said" >/dev/null &
        disown
        return
        ;;
    esac
  done
  echo "it has ended: $*" >&2
  return 1
}

stop_all() {
  local job
  for job in $(jobs -p); do kill -INT -- "-$job" 2>/dev/null || true; done
  wait || true
}
trap stop_all EXIT

nearhit() {
  case "$1" in
    serve) stop_all && in_background nearhit "$@" ;; # each needs the port for itself
    worker) in_background nearhit "$@" ;;
    loadtest) command nearhit "$@" || [[ $? == 1 ]] ;; # the machine may be too slow for a budget
    *) command nearhit "$@" ;;
  esac
}

# CI runs the targets that are only listed here; most of them run this test.
make() {
  case "${1:-}" in
    run) in_background make "$@" ;;
    demo) command make "$@" ;;
    *) command make --dry-run "$@" >/dev/null ;;
  esac
}

# The real one succeeds when it is refused.
curl() {
  local body
  body=$(command curl --fail-with-body "$@") || { echo "refused: $body" >&2; return 1; }
  printf '%s\n' "$body"
  case "$* $body" in */v1/search\ *'"hits":[]'*) echo "no hits" >&2; return 1 ;; esac
}

# As the administrator of the test's server. The real one goes on after a statement that fails.
psql() { "$PSQL" --quiet --set ON_ERROR_STOP=1 "$ADMINISTRATOR" "$@"; }

# The folders of the machine that a page writes to are folders of the test, which needs no rights.
sudo() {
  [[ $1 != -u ]] || shift 2
  "${1##*/}" "${@:2}" # pip is that of the one environment here
}

# Several pages begin with these two lines. What the first has installed the others find.
python3() {
  [[ "$*" == "-m venv "* && -e $ENVIRONMENT/bin/pip ]] || command python3 "$@"
}
pip() {
  local said
  [[ "$*" != "install ." || ! -e $MACHINE/installed ]] || return 0
  said=$(command pip "$@" 2>&1) || { echo "$said" >&2; return 1; }
  case "$said" in *'does not provide the extra'*) echo "$said" >&2; return 1 ;; esac
  touch "$MACHINE/installed"
}

# uv would fetch all packages anew; tests/test_wheel.py lets it, at night. pip has installed the
# command, of which `make demo` has shown what it does.
uvx() {
  [[ "$1 $2" == "--from ." ]]
  command "${@:3}" --help >/dev/null
}

# Without systemd: its judgement of the units, if it is there, and whether what they start is.
systemctl() {
  local unit
  for unit in "${@:3}"; do
    unit=$MACHINE/etc/systemd/system/$unit.service
    sed -i "s,=/opt/nearhit\(\S*\),=\"$ENVIRONMENT\1\"," "$unit"
    ! command -v systemd-analyze >/dev/null || systemd-analyze verify "$unit"
    eval "$(sed -n 's/^ExecStart=//p' "$unit") --help" >/dev/null
  done
}

# Without Docker's daemon: what runs in a container of the gateway runs here. tests/deploy checks the
# image and the compose file.
docker() {
  case "$1 $2" in
    "compose exec")
      shift 3 # compose exec SERVICE
      "${@/#\/documents/$DOCUMENTS}"
      ;;
  esac
}
