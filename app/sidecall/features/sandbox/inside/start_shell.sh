# Read by the shell of a sandbox: go on where the last command was, run the next, and tell where it ended.
# $1 is that folder, $2 the descriptor to tell it to.
__sidecall_fd=$2
__sidecall_before=${OLDPWD-}
if [ -n "$1" ] && ! cd -- "$1" 2>/dev/null; then
    echo "The folder $1 is gone; this command begins in /workspace." >&2
    cd /workspace
fi
OLDPWD=$__sidecall_before
set --
__sidecall_tell() {
    { printf '%s\0' "$PWD" && export -p; } >&"$__sidecall_fd" 2>/dev/null
}
trap __sidecall_tell EXIT
. /run/sidecall/command
