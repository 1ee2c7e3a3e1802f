"""Filters of system calls: classic BPF programs that the kernel runs before each call."""

import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import ENOSYS, EPERM

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
_WIDTH = 8
# Flags of clone that create namespaces, without the one for signals.
NAMESPACES = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_THREAD = 0x00010000
_X32 = 0x40000000


@dataclass(frozen=True, slots=True)
class Machine:
    """The kernel's name of a processor, and the numbers of its system calls."""

    audit: int
    numbers: Mapping[str, int]


# From 424 on, system calls have the same number on all of these.
_COMMON = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "pidfd_open": 434,
    "process_madvise": 440,
    "process_mrelease": 448,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
_X86 = {
    "mmap": 9,
    "ioctl": 16,
    "shmget": 29,
    "socket": 41,
    "socketpair": 53,
    "clone": 56,
    "fork": 57,
    "vfork": 58,
    "execve": 59,
    "kill": 62,
    "semget": 64,
    "msgget": 68,
    "ptrace": 101,
    "syslog": 103,
    "personality": 135,
    "setpriority": 141,
    "sched_setparam": 142,
    "sched_setscheduler": 144,
    "pivot_root": 155,
    "acct": 163,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "sched_setaffinity": 203,
    "mq_open": 240,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "ioprio_set": 251,
    "migrate_pages": 256,
    "unshare": 272,
    "move_pages": 279,
    "perf_event_open": 298,
    "prlimit64": 302,
    "open_by_handle_at": 304,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "sched_setattr": 314,
    "memfd_create": 319,
    "kexec_file_load": 320,
    "bpf": 321,
    "execveat": 322,
    "userfaultfd": 323,
}
_ARM = {
    "ioctl": 29,
    "ioprio_set": 30,
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "quotactl": 60,
    "acct": 89,
    "personality": 92,
    "unshare": 97,
    "kexec_load": 104,
    "init_module": 105,
    "delete_module": 106,
    "syslog": 116,
    "ptrace": 117,
    "sched_setparam": 118,
    "sched_setscheduler": 119,
    "sched_setaffinity": 122,
    "kill": 129,
    "setpriority": 140,
    "reboot": 142,
    "sethostname": 161,
    "setdomainname": 162,
    "mq_open": 180,
    "msgget": 186,
    "semget": 190,
    "shmget": 194,
    "socket": 198,
    "socketpair": 199,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "clone": 220,
    "execve": 221,
    "mmap": 222,
    "swapon": 224,
    "swapoff": 225,
    "migrate_pages": 238,
    "move_pages": 239,
    "perf_event_open": 241,
    "prlimit64": 261,
    "open_by_handle_at": 265,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "sched_setattr": 274,
    "memfd_create": 279,
    "bpf": 280,
    "execveat": 281,
    "userfaultfd": 282,
    "kexec_file_load": 294,
}
_MACHINES = {
    "x86_64": Machine(0xC000003E, {**_COMMON, **_X86}),
    "aarch64": Machine(0xC00000B7, {**_COMMON, **_ARM}),
}

# Calls that change the machine, look into other processes, or make memory that no limit counts.
DANGEROUS = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "process_madvise", "perf_event_open"),
    *("mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("mount_setattr", "setns", "unshare", "open_by_handle_at", "quotactl", "swapon", "swapoff", "acct", "reboot"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "bpf", "userfaultfd"),
    *("keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register", "syslog"),
    *("memfd_create", "memfd_secret", "shmget"),
)


# Calls that affect other processes of the user where no namespace hides them, or create processes.
SHARED = (
    *("pidfd_open", "process_mrelease", "kcmp", "setpriority", "sched_setparam", "sched_setscheduler"),
    *("sched_setaffinity", "sched_setattr", "ioprio_set", "migrate_pages", "move_pages", "semget", "msgget", "mq_open"),
    *("fork", "vfork", "execve", "execveat", "socket"),
)


@dataclass(frozen=True, slots=True)
class RefusedArgument:
    """A refused argument of a call: it has any of these bits, lacks this one, or is one of these values."""

    argument: int
    bits: int = 0
    lacking: int = 0
    values: tuple[int, ...] = ()


def is_known_machine() -> bool:
    """Return whether the numbers of this machine's system calls are known here."""
    return platform.machine() in _MACHINES


def build_filter(
    refused: Sequence[str] = DANGEROUS,
    missing: Sequence[str] = ("clone3",),
    conditions: Mapping[str, Sequence[RefusedArgument]] | None = None,
) -> bytes:
    """Build a filter; refused calls seem to be missing, so that programs use alternatives.

    Raises:
        KeyError: The machine's system calls are not known.
    """
    machine = _MACHINES[platform.machine()]
    known = machine.numbers
    program = [_make(_LOAD, 0, 0, _MACHINE), _make(_EQUAL, 1, 0, machine.audit), _make(_RETURN, 0, 0, _KILL)]
    program += [_make(_LOAD, 0, 0, _NUMBER), _make(_AT_LEAST, 0, 1, _X32), _make(_RETURN, 0, 0, _REFUSE | ENOSYS)]
    for names, answer in ((refused, EPERM), (missing, ENOSYS)):
        for number in (known[name] for name in names if name in known):
            program += [_make(_EQUAL, 0, 1, number), _make(_RETURN, 0, 0, _REFUSE | answer)]
    for name, tests in (CONFINED if conditions is None else conditions).items():
        if name in known:
            program += _test_arguments(known[name], tests)
    return b"".join((*program, _make(_RETURN, 0, 0, _ALLOW)))


# Allowed calls with refused arguments.
CONFINED: Mapping[str, Sequence[RefusedArgument]] = {
    "clone": (RefusedArgument(0, bits=NAMESPACES),),
    "ioctl": (RefusedArgument(1, values=(_TIOCSTI, _TIOCLINUX)),),
}
# The same, where a program also must not start others, nor reach running ones.
ALONE: Mapping[str, Sequence[RefusedArgument]] = {
    **CONFINED,
    "clone": (RefusedArgument(0, bits=NAMESPACES, lacking=_THREAD),),
    "prlimit64": (RefusedArgument(0, bits=0xFFFFFFFF),),
}


def _test_arguments(number: int, tests: Sequence[RefusedArgument]) -> list[bytes]:
    body: list[bytes] = []
    for test in tests:
        body.append(_make(_LOAD, 0, 0, _FIRST + _WIDTH * test.argument))
        if test.bits:
            body += [_make(_ANY_BIT, 0, 1, test.bits), _make(_RETURN, 0, 0, _REFUSE | EPERM)]
        if test.lacking:
            body += [_make(_ANY_BIT, 1, 0, test.lacking), _make(_RETURN, 0, 0, _REFUSE | EPERM)]
        for value in test.values:
            body += [_make(_EQUAL, 0, 1, value), _make(_RETURN, 0, 0, _REFUSE | EPERM)]
    body.append(_make(_LOAD, 0, 0, _NUMBER))
    return [_make(_EQUAL, 0, len(body), number), *body]


def _make(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
