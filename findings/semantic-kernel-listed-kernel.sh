#!/usr/bin/env bash
# Semantic Kernel 1.45.0 fills a parameter `kernel` of a function itself, whatever the model sends, and lists it to the
# model nevertheless, as an object with members of the kernel, and as required. A good guess would be that what the
# framework injects is hidden. With `{"include_in_function_choices": False}` in its annotation it is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check semantic-kernel==1.45.0
cat >"$work/show.py" <<'PYTHON'
from typing import Annotated

import semantic_kernel
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_calling_utils import kernel_function_metadata_to_function_call_format
from semantic_kernel.functions import kernel_function
from semantic_kernel.functions.kernel_function_from_method import KernelFunctionFromMethod


@kernel_function
def greet(name: str, kernel: Kernel) -> str:
    return name


@kernel_function
def hide(name: str, kernel: Annotated[Kernel, "K.", {"include_in_function_choices": False}]) -> str:
    return name


def list_parameters(method):
    said = kernel_function_metadata_to_function_call_format(KernelFunctionFromMethod(method=method).metadata)
    return said["function"]["parameters"]


print("semantic-kernel", semantic_kernel.__version__)
listed = list_parameters(greet)
print("listed:", list(listed["properties"]), listed["required"], listed["properties"]["kernel"]["type"])
print("marked:", list(list_parameters(hide)["properties"]))
PYTHON
"$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
semantic-kernel 1.45.0
listed: ['name', 'kernel'] ['name', 'kernel'] object
marked: ['name']
SEEN
