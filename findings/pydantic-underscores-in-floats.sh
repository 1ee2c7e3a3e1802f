#!/usr/bin/env bash
# pydantic 2.14.3 takes single underscores out of a text before it reads the text as a float, wherever they stand
# between two characters. So "i_nf" is infinity, "n_a_n" is no number, "1._5" is 1.5 and "1e_5" is 100000.0.
# A good guess would be Python's rule, which allows an underscore between two digits: float() refuses all four, and
# pydantic's own int keeps to that rule.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.3
cat >"$work/show.py" <<'PYTHON'
from pydantic import VERSION, TypeAdapter, ValidationError

TEXTS = ("1_0", "1._5", "1e_5", "+_1", "i_nf", "n_a_n", "1__0", "_1", "1_")


def read(what, text):
    try:
        return repr(what(text))
    except ValidationError as error:
        return error.errors()[0]["type"]
    except ValueError:
        return "ValueError"


print("pydantic", VERSION)
for text in TEXTS:
    print(text, read(float, text), *(read(TypeAdapter(kind).validate_python, text) for kind in (float, int)))
PYTHON
"$work/env/bin/python" "$work/show.py" | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
pydantic 2.14.3
1_0 10.0 10.0 10
1._5 ValueError 1.5 int_parsing
1e_5 ValueError 100000.0 int_parsing
+_1 ValueError 1.0 int_parsing
i_nf ValueError inf int_parsing
n_a_n ValueError nan int_parsing
1__0 ValueError float_parsing int_parsing
_1 ValueError float_parsing int_parsing
1_ ValueError float_parsing int_parsing
SEEN
