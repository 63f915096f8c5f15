# Runs a command as the chart's pods run: without rights, where only /tmp and /dev/shm can be written.
# The user stays root, because Python may be in its home folder, with the one right to open sockets
# of other users, because PostgreSQL's belongs to another one.
# Needs root, and a mount namespace of its own: unshare --mount bash confine.sh COMMAND.
set -e
mount --bind /tmp /tmp
mount -t tmpfs -o size=64m tmpfs /dev/shm
awk '{print $5}' /proc/self/mountinfo | while read -r path; do
  case "$path" in
    /tmp | /dev | /dev/* | /proc | /proc/* | /sys | /sys/*) ;;
    *) mount -o remount,bind,ro "$path" ;;
  esac
done
cd /
exec setpriv --clear-groups --inh-caps=-all --bounding-set=-all,+dac_override --no-new-privs "$@"
