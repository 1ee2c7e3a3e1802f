#!/usr/bin/env bash
# A news fragment whose type is misspelt is left out of the news by towncrier, without a word and with success.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check towncrier==26.9.0 2>/dev/null
mkdir changes
cat >pyproject.toml <<'TOML'
[tool.towncrier]
name = "project"
version = "1.0"
directory = "changes"
filename = "NEWS.md"

[[tool.towncrier.type]]
directory = "fixed"
name = "Fixed"
showcontent = true
TOML
echo "What was right." >changes/+one.fixed.md
echo "What was misspelt." >changes/+two.fix.md
said=$(env/bin/towncrier build --draft 2>&1)
env/bin/towncrier --version
echo "exit code 0, and it says: $(echo "$said" | tr '\n' ' ')"
grep -q "What was right" <<<"$said" && ! grep -q "misspelt\|two.fix" <<<"$said"
