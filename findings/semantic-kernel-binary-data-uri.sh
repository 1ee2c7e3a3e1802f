#!/usr/bin/env bash
# Semantic Kernel 1.45.0 takes the bytes of an image or a sound, and then cannot write them: `ImageContent(data=png,
# mime_type="image/png")` is made, `.data` gives the bytes back, and `.data_uri`, `str()` and `to_dict()` raise
# UnicodeDecodeError, since bytes are written as UTF-8 text unless `data_format="base64"` was said as well.
# A good guess would be that bytes need no format: the data URI of bytes is base64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check semantic-kernel==1.45.0
cat >"$work/show.py" <<'PYTHON'
import semantic_kernel
from semantic_kernel.contents import AudioContent, ImageContent

PNG = b"\x89PNG\r\n\x1a\n"


def show(read):
    try:
        return read()
    except Exception as error:
        return type(error).__name__


print("semantic-kernel", semantic_kernel.__version__)
for name, made in (
    ("image", ImageContent(data=PNG, mime_type="image/png")),
    ("sound", AudioContent(data=PNG, mime_type="audio/wav")),
    ("image, data_format", ImageContent(data=PNG, mime_type="image/png", data_format="base64")),
    ("image, only ASCII", ImageContent(data=b"GIF89a", mime_type="image/gif")),
):
    print(f"{name}: data {made.data}, data_uri {show(lambda: made.data_uri)}, to_dict {type(show(made.to_dict)).__name__}")
PYTHON
"$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
semantic-kernel 1.45.0
image: data b'\x89PNG\r\n\x1a\n', data_uri UnicodeDecodeError, to_dict str
sound: data b'\x89PNG\r\n\x1a\n', data_uri UnicodeDecodeError, to_dict str
image, data_format: data b'\x89PNG\r\n\x1a\n', data_uri data:image/png;base64,iVBORw0KGgo=, to_dict dict
image, only ASCII: data b'GIF89a', data_uri data:image/gif;,GIF89a, to_dict dict
SEEN
