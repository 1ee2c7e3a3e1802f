"""Calls as models write them wrongly: what was sent, what was meant, and where any value that fits will do."""

from dataclasses import dataclass
from typing import Any

PAYS = {"method": {"kind": "card", "number": "4242"}, "amount": 5}
REMINDS = {"when": {"every_minutes": 5}, "text": "tea"}
ORDERS = {"lines": [{"sku": "ABC-1", "amount": 2}]}


@dataclass(frozen=True)
class WrongCall:
    """One wrong call; `free` are places at which the model could not know what was meant."""

    name: str
    tool: str
    sent: Any
    meant: dict[str, Any]
    free: tuple[str, ...] = ()


def _call(name: str, tool: str, sent: Any, meant: dict[str, Any], *free: str) -> WrongCall:
    return WrongCall(name, tool, sent, meant, free)


W = {"city": "Rome", "days": 3}
CALLS = [
    # names
    _call("swapped letters", "weather", {"ctiy": "Rome", "days": 3}, W),
    _call("optional misspelt", "weather", {"city": "Rome", "dys": 3}, W),
    _call("camel case", "strict_search", {"query": "tea", "maxResults": 3}, {"query": "tea", "max_results": 3}),
    _call("kebab case", "strict_search", {"query": "tea", "max-results": 3}, {"query": "tea", "max_results": 3}),
    _call("upper case", "weather", {"CITY": "Rome", "Days": 3}, W),
    _call("part of a name", "strict_search", {"query": "tea", "results": 3}, {"query": "tea", "max_results": 3}),
    _call("longer name", "weather", {"city_name": "Rome", "days": 3}, W),
    _call("plural", "weather", {"city": "Rome", "day": 3}, W),
    _call("synonym", "weather", {"location": "Rome", "days": 3}, W),
    _call("unlike anything", "weather", {**W, "language": "it"}, W),
    _call("closed tool, unlike anything", "strict_search", {"query": "tea", "lang": "it"}, {"query": "tea"}),
    _call(
        "nested optional misspelt",
        "remind",
        {"when": {"hour": 7, "minutes": 30}, "text": "x"},
        {"when": {"hour": 7, "minute": 30}, "text": "x"},
    ),
    _call("nested camel case", "remind", {"when": {"everyMinutes": 5}, "text": "tea"}, REMINDS),
    _call("in a list", "order", {"lines": [{"sku": "ABC-1", "amuont": 2}]}, ORDERS),
    _call(
        "in a typed dict",
        "order",
        {**ORDERS, "address": {"street": "A", "postalcode": "1"}},
        {**ORDERS, "address": {"street": "A", "postal_code": "1"}},
    ),
    _call(
        "in a typed dict, misspelt",
        "order",
        {**ORDERS, "address": {"street": "A", "postal_cod": "1"}},
        {**ORDERS, "address": {"street": "A", "postal_code": "1"}},
    ),
    _call("in a dataclass", "draw", {"size": {"width": 2, "hight": 3}}, {"size": {"width": 2, "height": 3}}),
    _call(
        "in a tree",
        "draw",
        {"size": {"width": 2}, "tree": {"label": "a", "children": [{"lable": "b"}]}},
        {"size": {"width": 2}, "tree": {"label": "a", "children": [{"label": "b"}]}},
    ),
    _call("in a member with a tag", "pay", {"method": {"kind": "card", "numbr": "4242"}, "amount": 5}, PAYS),
    _call(
        "optional in a member with a tag",
        "pay",
        {"method": {**PAYS["method"], "cvv": "123"}, "amount": 5},
        {"method": {**PAYS["method"], "cvc": "123"}, "amount": 5},
    ),
    _call(
        "in a closed object",
        "strict_search",
        {"query": "tea", "inside": {"title": "a", "maxpages": 2}},
        {"query": "tea", "inside": {"title": "a", "max_pages": 2}},
    ),
    _call("one level too high", "remind", {"every_minutes": 5, "text": "tea"}, REMINDS),
    _call(
        "one level too deep",
        "remind",
        {"when": {"every_minutes": 5, "priority": "low"}, "text": "tea"},
        {**REMINDS, "priority": "low"},
    ),
    _call("schema, misspelt", "issue", {"title": "a", "lables": ["bug"]}, {"title": "a", "labels": ["bug"]}),
    _call(
        "schema, nested", "issue", {"title": "a", "assignee": {"userId": 3}}, {"title": "a", "assignee": {"user_id": 3}}
    ),
    # values
    _call("too large", "weather", {"city": "Rome", "days": 30}, {"city": "Rome", "days": 14}, "days"),
    _call("words for a number", "weather", {"city": "Rome", "days": "three"}, {"city": "Rome", "days": 1}, "days"),
    _call("number as text", "weather", {"city": "Rome", "days": "3"}, W),
    _call("other value", "weather", {**W, "units": "celsius"}, W, "units"),
    _call("value in another case", "weather", {**W, "units": "Metric"}, W),
    _call("value misspelt", "weather", {**W, "units": "imperail"}, {**W, "units": "imperial"}),
    _call("enum member's name", "remind", {**REMINDS, "priority": "HIGH"}, {**REMINDS, "priority": "very-high"}),
    _call(
        "enum with other separators",
        "remind",
        {**REMINDS, "priority": "VERY_HIGH"},
        {**REMINDS, "priority": "very-high"},
    ),
    _call("date of another country", "pay", {**PAYS, "due": "14/03/2026"}, {**PAYS, "due": "2026-03-14"}),
    _call("date in words", "pay", {**PAYS, "due": "tomorrow"}, {**PAYS, "due": "2026-03-14"}, "due"),
    _call(
        "moment in words",
        "remind",
        {**REMINDS, "starts": "next week"},
        {**REMINDS, "starts": "2026-03-14T15:09:26Z"},
        "starts",
    ),
    _call("pattern", "pay", {**PAYS, "currency": "euro"}, {**PAYS, "currency": "EUR"}),
    _call(
        "too short in a member", "pay", {"method": {"kind": "card", "number": "42"}, "amount": 5}, PAYS, "method.number"
    ),
    _call("tag misspelt", "pay", {"method": {"kind": "crad", "number": "4242"}, "amount": 5}, PAYS),
    _call("tag in another case", "pay", {"method": {"kind": "CARD", "number": "4242"}, "amount": 5}, PAYS),
    _call("no tag", "pay", {"method": {"number": "4242"}, "amount": 5}, PAYS),
    _call(
        "no member fits", "remind", {"when": {}, "text": "tea"}, {"when": {"every_minutes": 5}, "text": "tea"}, "when"
    ),
    _call("text for a union", "remind", {"when": "hourly", "text": "tea"}, REMINDS, "when"),
    _call(
        "bad value in a member",
        "remind",
        {"when": {"hour": 25}, "text": "tea"},
        {"when": {"hour": 23}, "text": "tea"},
        "when",
    ),
    _call(
        "many alike in a list",
        "order",
        {"lines": [{"sku": "1"}, {"sku": "2"}, {"sku": "3"}]},
        {"lines": [{"sku": "ABC-1"}] * 3},
    ),
    _call("empty list", "order", {"lines": []}, {"lines": [{"sku": "ABC-1"}]}, "lines"),
    _call("text for a list", "order", {**ORDERS, "tags": "a"}, {**ORDERS, "tags": ["a"]}),
    _call("object for a list", "order", {"lines": {"sku": "ABC-1", "amount": 2}}, ORDERS, "lines"),
    _call("text for an object", "draw", {"size": "large"}, {"size": {"width": 1}}, "size"),
    _call(
        "short tuple", "draw", {"size": {"width": 2}, "point": [1]}, {"size": {"width": 2}, "point": [1, 1]}, "point"
    ),
    _call(
        "number in free keys",
        "draw",
        {"size": {"width": 2}, "colors": {"a": 1}},
        {"size": {"width": 2}, "colors": {"a": "1"}},
    ),
    _call("bad address", "fetch", {"url": "example"}, {"url": "https://example.com/page"}),
    _call(
        "bad id",
        "fetch",
        {"url": "https://a.de/", "id": "7"},
        {"url": "https://a.de/", "id": "123e4567-e89b-42d3-a456-426614174000"},
    ),
    _call("bad time", "fetch", {"url": "https://a.de/", "at": "noon"}, {"url": "https://a.de/", "at": "15:09:26"}),
    _call(
        "bad duration",
        "fetch",
        {"url": "https://a.de/", "wait": "a while"},
        {"url": "https://a.de/", "wait": "PT1H30M"},
    ),
    _call("plain union", "mixed", {"value": "soon"}, {"value": "2026-03-14"}, "value"),
    _call("object for a plain union", "mixed", {"value": {"a": 1}}, {"value": 1}, "value"),
    _call("flag in words", "mixed", {"value": 1, "flag": "maybe"}, {"value": 1, "flag": True}),
    _call("null as text", "mixed", {"value": 1, "flag": "null"}, {"value": 1}),
    _call("null for what has a default", "weather", {"city": "Rome", "days": None}, {"city": "Rome"}),
    _call("schema, repeated", "issue", {"title": "a", "labels": ["bug", "bug"]}, {"title": "a", "labels": ["bug"]}),
    _call("schema, other value", "issue", {"title": "a", "labels": ["bugs"]}, {"title": "a", "labels": ["bug"]}),
    _call("schema, date", "issue", {"title": "a", "due_date": "14.3.2026"}, {"title": "a", "due_date": "2026-03-14"}),
    _call(
        "schema, mail",
        "issue",
        {"title": "a", "assignee": {"user_id": 1, "mail": "bob"}},
        {"title": "a", "assignee": {"user_id": 1, "mail": "ada@example.com"}},
    ),
    _call(
        "schema, union",
        "issue",
        {"title": "a", "target": {"signed": True}},
        {"title": "a", "target": {"tag": "text", "signed": True}},
        "target.tag",
    ),
    _call("schema, step", "issue", {"title": "a", "points": 7}, {"title": "a", "points": 5}),
    _call("schema, number as text", "issue", {"title": "a", "points": "5"}, {"title": "a", "points": 5}),
    _call("schema, case", "issue", {"title": "a", "state": "OPEN"}, {"title": "a", "state": "open"}),
    # wrappers
    _call("arguments", "weather", {"arguments": W}, W),
    _call("input as text", "weather", {"input": '{"city": "Rome", "days": 3}'}, W),
    _call("the whole call", "weather", {"name": "weather", "arguments": W}, W),
    _call("wrapped, and wrong", "weather", {"args": {"city": "Rome", "days": 30}}, {"city": "Rome", "days": 14}),
    _call("single quotes", "weather", "{'city': 'Rome', 'days': 3}", W),
    _call("Python's words", "mixed", "{'value': 1, 'flag': True,}", {"value": 1, "flag": True}),
    _call("fence", "weather", '```json\n{"city": "Rome", "days": 3,}\n```', W),
    _call("twice encoded", "weather", '"{\\"city\\": \\"Rome\\", \\"days\\": 3}"', W),
    _call("object as text", "pay", {"method": '{"kind": "card", "number": "4242"}', "amount": 5}, PAYS),
    _call("object as Python's text", "pay", {"method": "{'kind': 'card', 'number': '4242'}", "amount": 5}, PAYS),
    _call("cut off", "weather", '{"city": "Rome", "da', W),
    _call("a list", "weather", '["Rome", 3]', W),
    _call(
        "free arguments in an object", "collect", {"name": "a", "rest": {"color": "red"}}, {"name": "a", "color": "red"}
    ),
]
