# Read by the shell of a sandbox: go on where the last command was, run the next, and tell where it ended.
# $1 is the descriptor to tell it to. $2 is the descriptor from which that folder comes once there is a command; where it
# is empty, $3 is the folder.
__sidecall_fd=$1
__sidecall_folder=$3
if [ -n "$2" ]; then
    # A command before may have exported TMOUT, after which `read` gives up.
    IFS= TMOUT= read -r -d '' __sidecall_folder <&"$2" || exit
    eval "exec $2<&-"
    SECONDS=0
fi
__sidecall_before=${OLDPWD-}
if [ -n "$__sidecall_folder" ] && ! cd -- "$__sidecall_folder" 2>/dev/null; then
    echo "The folder $__sidecall_folder is gone; this command begins in /workspace." >&2
    cd /workspace
fi
unset __sidecall_folder
OLDPWD=$__sidecall_before
set --
__sidecall_tell() {
    { printf '%s\0' "$PWD" && export -p; } >&"$__sidecall_fd" 2>/dev/null
}
trap __sidecall_tell EXIT
. /run/sidecall/command
