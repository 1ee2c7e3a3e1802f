#!/usr/bin/env bash
# Sourced by scripts that install programs of others, from the top of the repository: with uv and Bun where
# `scripts/install-clients uv runtimes` has got them, which takes seconds, else with pip and npm, which takes minutes.
python=${PYTHON:-python3}
uv=$PWD/.venv-clients/uv/bin/uv
export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-https://pypi.org/simple}} UV_LINK_MODE=${UV_LINK_MODE:-copy}
# For how many seconds one attempt may last: what is stuck is given up.
patience=${PATIENCE:-300}

# pip knows registries that only its own settings name. What is never imported needs no bytecode.
in_environment() { with_uv "$@" || with_pip "$@"; } # a folder to make it in, a file of requirements
with_uv() {
    [ -x "$uv" ] && "$uv" venv --quiet --allow-existing --python "$python" "$1" &&
        timeout "$patience" "$uv" pip install --quiet --python "$1/bin/python" --requirement "$2"
}
with_pip() {
    "$python" -m venv --without-pip "$1" &&
        timeout "$patience" "$python" -m pip --disable-pip-version-check --python "$1/bin/python" \
            install --quiet --no-compile --requirement "$2"
}

# No package needs a script of its own. Bun knows no settings of npm's.
in_modules() { with_bun "$1" || with_npm "$1"; } # a folder with a package.json
with_bun() (
    bun=$(compgen -G "$PWD/.venv-clients/runtimes/node_modules/@oven/bun-linux-*/bin/bun" | head -n 1) && cd "$1" &&
        timeout "$patience" "$bun" install --no-save --ignore-scripts --silent >/dev/null && [ -d node_modules ]
)
with_npm() (
    cd "$1" && rm -rf node_modules &&
        timeout "$patience" npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
)
