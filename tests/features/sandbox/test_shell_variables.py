"""What a shell says of its variables is read as data, no matter what a program has written in its place."""

import subprocess

import pytest

from sidecall.features.sandbox.shell_state import read_exports, read_variables, write_variables

# What bash and dash write, and the variables in it.
CASES = [
    (b'declare -x A="b c"\n', {"A": "b c"}),
    (b'declare -x A="\\"\\$x\\`\\\\ \xc3\xa9"\n', {"A": '"$x`\\ é'}),
    (b'declare -ix A="5"\ndeclare -rx B="6"\n', {"A": "5", "B": "6"}),
    (b"declare -x A=$'one\\ntwo\\'s \\E\\001'\n", {"A": "one\ntwo's \x1b\x01"}),
    (b'declare -x A="one\ntwo"\ndeclare -x B="3"\n', {"A": "one\ntwo", "B": "3"}),
    (b"export A='b c'\nexport B='it'\"'\"'s'\nexport C=''\n", {"A": "b c", "B": "it's", "C": ""}),
    (b"declare -x A\nexport B\n", {}),
    (b'declare -x PWD="/x"\ndeclare -x SHLVL="1"\ndeclare -x OLDPWD="/y"\n', {"OLDPWD": "/y"}),
    (b'declare -x LD_PRELOAD="x"\ndeclare -x BASH_ENV="x"\ndeclare -x ENV="x"\ndeclare -x PS4="$(x)"\n', {}),
    (b'ls() { echo hijacked; }\nalias cat=x\nexport PATH=/x\nA="b"\ndeclare -x A="b"; touch x\n', {}),
    (b'declare -x BASH_FUNC_ls%%="() { x; }"\ndeclare -x A-B="c"\n', {}),
    (b"declare -x A=$'\\000'\n", {}),
    (b'declare -x A="never ended', {}),
]


@pytest.mark.parametrize(("said", "variables"), CASES)
def test_variables_and_nothing_else_are_read(said: bytes, variables: dict[str, str]) -> None:
    """Neither functions nor aliases nor commands, nor what shells and loaders would run by themselves."""
    assert read_exports(said) == variables
    assert read_variables(write_variables(variables)) == variables


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_what_a_shell_says_is_what_its_programs_find(shell: str) -> None:
    """Every character but zero, also bytes that are no text."""
    values = ["a b", "it's", '"$`\\', "one\ntwo\t\x01\x7f", "é\u2603", b"\xff\xfe".decode(errors="surrogateescape"), ""]
    variables = {f"V{number}": value for number, value in enumerate(values)}
    said = subprocess.run([shell, "-c", "export -p"], env=variables, capture_output=True, check=True).stdout

    found = read_exports(said)

    assert {name: found[name] for name in variables} == variables
