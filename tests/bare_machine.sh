#!/usr/bin/env bash
# The README's first lines on a Debian that has nothing but its base system, Python, make and git.
# `make bare-machine` calls it: as root, for it mounts and changes its root folder.
#
#     tests/bare_machine.sh FOLDER [LINE…]      # without a line: those of the README's first block
#
# FOLDER     the system; debootstrap makes it unless it is there
# SUITE, MIRROR    what debootstrap takes it from
# HOST_FILES       paths that are copied into it: pip's and apt's settings, a certificate that a network asks for;
#                  not below /etc/ssl/certs, which the package ca-certificates makes anew
# HOST_VARIABLES   names of variables that its commands see, such as PIP_CERT
# TRANSCRIPT       the file that keeps what is printed
set -euo pipefail

folder=$(realpath "${1:?the folder of the system}")
checkout=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
transcript=${TRANSCRIPT:-$checkout/.cache/bare-machine.txt}
lines=("${@:2}")
if ((${#lines[@]} == 0)); then
  mapfile -t lines < <(sed -n '/^```sh$/,/^```$/ {/^make /p}' "$checkout/README.md")
fi

[[ -e $folder/etc/debian_version ]] ||
  debootstrap --variant=minbase "${SUITE:-bookworm}" "$folder" "${MIRROR:-http://deb.debian.org/debian}"
# tar puts a file in place of a link: one in the system may lead to a file of this machine.
host_files=(/etc/resolv.conf /etc/hosts ${HOST_FILES:-})
tar --create --dereference --directory / "${host_files[@]#/}" | tar --extract --directory "$folder"
rm -rf "$folder/root/nearhit"
git clone --quiet "$checkout" "$folder/root/nearhit" # of what is committed

{
  echo 'set -ex'
  echo 'apt-get -qq update'
  echo 'apt-get -qq install --no-install-recommends python3-venv make git ca-certificates >/dev/null'
  echo 'python3 --version'
  echo 'cd /root/nearhit'
  for line in "${lines[@]}"; do
    case "$line" in
      # It would run until Ctrl-C, which it gets when it has had time to be ready.
      "make run"*) echo "time timeout --signal INT 60 ${line%%#*} || [[ \$? == 124 ]]" ;;
      *) echo "time ${line%%#*}" ;;
    esac
  done
} >"$folder/root/lines.sh"

variables=(HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
variables+=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in ${HOST_VARIABLES:-}; do variables+=("$name=${!name}"); done

# With the namespace its mounts go, and every process that it has left.
enter='for part in proc sys dev; do mount --rbind "/$part" "$0/$part"; done; exec chroot "$0" "$@"'
mkdir -p "$(dirname "$transcript")"
unshare --mount --pid --fork --kill-child --mount-proc \
  bash -ec "$enter" "$folder" env --ignore-environment "${variables[@]}" bash /root/lines.sh 2>&1 |
  tee "$transcript"
echo "The transcript is in $transcript."
