"""A model that reads nothing but the answer to its wrong call, and does what that says."""

import copy
import json
import re
from typing import Any

Args = dict[str, Any]

_EXAMPLE = re.compile(r"such as (\S+)")
_BOUND = {
    "at least": 0,
    "greater than": 1,
    "at most": 0,
    "less than": -1,
}


def repair(sent: Any, error: dict[str, Any], meant: Args) -> Any:
    """Change a call as its answer says; the whole of what was meant is only sent again where the text was cut off."""
    if error["kind"] == "malformed_arguments":
        return meant if "{" in error["message"] else sent
    args = copy.deepcopy(sent)
    if not isinstance(args, dict):
        return args
    for entry in error["errors"]:
        _apply(args, entry, meant)
    return args


def _apply(args: Any, entry: dict[str, Any], meant: Args) -> None:
    *parents, last = entry["loc"] or ["arguments"]
    holder = _reach(args, parents)
    if holder is None:
        return
    if entry["type"] in ("misnamed_argument", "misplaced_argument"):
        value = holder.pop(last, None)
        place = entry.get("suggestion") or next(it for it in entry["allowed"] if it not in holder)
        _move(args if entry["type"] == "misplaced_argument" else holder, place, value)
    elif entry["type"] in ("extra_forbidden", "repeated_argument"):
        holder.pop(last, None)
    elif entry["type"] == "missing" and isinstance(holder, dict) and last in holder:
        return  # It is there by now, under its name.
    else:
        old = holder.get(last) if isinstance(holder, dict) else holder[last] if last < len(holder) else None
        new = _recall(entry, meant) or _recall_text(entry, meant) or _make(entry, old)
        if isinstance(holder, dict) or last < len(holder):
            holder[last] = new
        else:
            holder.append(new)


def _recall(entry: dict[str, Any], meant: Args) -> Any:
    """Recall what was meant where an object is wanted, if the answer names its keys."""
    value = _reach(meant, entry["loc"])
    first = value[0] if isinstance(value, list) and value else value
    words = f"{entry.get('expected', '')} {entry['msg']}"
    is_named = isinstance(first, dict) and all(re.search(rf"[{{ ]{key}\b", words) for key in first)
    return value if is_named else None


def _recall_text(entry: dict[str, Any], meant: Args) -> str | None:
    """Recall the text that was meant where the answer names the pattern that it has to match."""
    value = _reach(meant, entry["loc"][:-1] or [])
    last = entry["loc"][-1] if entry["loc"] else None
    text = value.get(last) if isinstance(value, dict) else value[last] if isinstance(value, list) else None
    _, is_named, rest = entry.get("expected", "").partition("matching ")
    patterns = [rest, rest.rpartition(" (")[0]] if is_named and isinstance(text, str) else []
    return text if any(it and _matches(it, text) for it in patterns) else None


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _reach(args: Any, path: list[Any]) -> Any:
    for step in path:
        try:
            args = args[step]
        except (KeyError, IndexError, TypeError):
            return None
        if isinstance(args, str):
            return None
    return args


def _move(target: Any, place: str, value: Any) -> None:
    *parents, last = place.split(".")
    for step in parents:
        target = target.setdefault(step, {})
    target[last] = value


def _make(entry: dict[str, Any], old: Any) -> Any:
    """Make a value of what is said to be wanted, out of the old one if that is possible."""
    if "suggestion" in entry:
        return entry["suggestion"]
    allowed = entry.get("allowed")
    if allowed and not str(allowed[0]).startswith("{"):
        return allowed[0]
    wanted = str(entry.get("expected") or entry["msg"])
    if allowed:
        return _make_object(str(allowed[0]), old)
    return _make_wanted(wanted, old)


def _make_wanted(wanted: str, old: Any) -> Any:
    example = _EXAMPLE.search(wanted)
    if wanted.startswith("array"):
        return _make_array(wanted, old)
    if example is not None:
        return example[1].rstrip(",").strip('"')
    if wanted.startswith(("object", "either")):
        return _make_object(wanted, old)
    if wanted.startswith(("integer", "number")):
        return _make_number(wanted, old)
    if wanted.startswith("boolean"):
        return True
    if wanted.startswith("one of"):
        return json.loads(wanted[7:].partition(",")[0])
    if wanted.startswith("string"):
        return _make_text(wanted, old)
    return old


def _make_number(wanted: str, old: Any) -> Any:
    found = re.search(r"-?\d+(\.\d+)?", str(old).replace(",", "")) if isinstance(old, str) else None
    number = float(found[0]) if found else float(old) if isinstance(old, (int, float)) else 1.0
    if (low := re.search(r"(at least|greater than) (-?[\d.]+)", wanted)) is not None:
        number = max(number, float(low[2]) + _BOUND[low[1]])
    if (high := re.search(r"(at most|less than) (-?[\d.]+)", wanted)) is not None:
        number = min(number, float(high[2]) + _BOUND[high[1]])
    if (step := re.search(r"a multiple of (\d+)", wanted)) is not None:
        number = number // int(step[1]) * int(step[1])
    return round(number) if wanted.startswith("integer") else number


def _make_text(wanted: str, old: Any) -> str:
    text = old if isinstance(old, str) else "text" if old is None else json.dumps(old)
    if (low := re.search(r"at least (\d+) char", wanted)) is not None:
        text = text.ljust(int(low[1]), "x")
    if (high := re.search(r"at most (\d+) char", wanted)) is not None:
        text = text[: int(high[1])]
    return text


def _make_array(wanted: str, old: Any) -> list[Any]:
    counts = re.compile(r", at (?:most|least) \d+ items?")
    inner = re.search(r"of (.*)", counts.sub("", wanted))
    pieces = inner[1].split(", then ") if inner and not inner[1].startswith("array") else []
    if len(pieces) > 1:
        given = old if isinstance(old, list) else []
        return [_make_wanted(it, given[at] if at < len(given) else None) for at, it in enumerate(pieces)]
    if isinstance(old, list):
        unique = [it for index, it in enumerate(old) if it not in old[:index]] if "without repeated" in wanted else old
        most = re.search(r"at most (\d+) item", wanted)
        least = re.search(r"at least (\d+) item", wanted)
        unique = unique[: int(most[1])] if most else unique
        while least and inner and len(unique) < int(least[1]):
            unique = [*unique, _make_wanted(inner[1], None)]
        return unique
    if isinstance(old, str) and inner and inner[1].startswith("string"):
        return [piece.strip() for piece in old.split(",")]
    return [_make_wanted(inner[1], old)] if inner else []


def _make_object(wanted: str, old: Any) -> dict[str, Any]:
    keys = re.search(r"\{(.*?)\}", wanted)
    made: dict[str, Any] = {}
    for key in (keys[1] if keys else "").split(", "):
        name, _, value = key.partition(": ")
        if name and not name.endswith("?"):
            made[name] = json.loads(value) if value else old if isinstance(old, (int, str)) else 1
    return made
