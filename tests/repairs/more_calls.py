"""More wrong calls, written once the rules stood; most are of the kinds that the first ones have, in other places."""

from typing import Any

from tests.repairs.wrong_calls import WrongCall

ADA = {"first_name": "Ada", "last_name": "L"}
STAY: dict[str, Any] = {"check_in": "2026-05-01", "nights": 2, "guests": [ADA]}
BOOK = {"stay": STAY}
PAINT = {"shapes": [{"shape": "box", "width": 1, "height": 2}]}
MAIL = {"recipient": "a@b.c", "subject": "Hi", "body": "Text"}
PLAN: dict[str, Any] = {"goal": "x", "steps": [{"action": "run", "timeout_seconds": 5}]}
GO = {"start": [1, 2]}
Q = {"table": "t"}


def _stay(**changes: Any) -> dict[str, Any]:
    return {"stay": {**STAY, **changes}}


def _call(name: str, sent: Any, meant: dict[str, Any], *free: str) -> WrongCall:
    tool, _, title = name.partition(": ")
    return WrongCall(f"{tool}: {title}", tool, sent, meant, free)


MORE_CALLS = [
    _call(
        "book: camel case at every depth",
        {"stay": {"checkIn": "2026-05-01", "nights": 2, "guests": [{"firstName": "Ada", "lastName": "L"}]}},
        BOOK,
    ),
    _call("book: flat", STAY, BOOK),
    _call("book: misspelt deep", _stay(guests=[{"frist_name": "Ada", "last_name": "L"}]), BOOK),
    _call("book: optional misspelt deep", _stay(guests=[{**ADA, "agee": 30}]), _stay(guests=[{**ADA, "age": 30}])),
    _call("book: shortened", {"stay": {**STAY, "guests": [{"first": "Ada", "last_name": "L"}]}}, BOOK),
    _call("book: choice misspelt", {**BOOK, "room_type": "doubel"}, {**BOOK, "room_type": "double"}),
    _call("book: choice in capitals", {**BOOK, "room_type": "SUITE"}, {**BOOK, "room_type": "suite"}),
    _call("book: part of the name", {**BOOK, "room": "suite"}, {**BOOK, "room_type": "suite"}),
    _call("book: swapped words", {**BOOK, "type_room": "suite"}, {**BOOK, "room_type": "suite"}),
    _call("book: date", _stay(check_in="1 May 2026"), BOOK, "stay.check_in"),
    _call("book: bounds", _stay(nights=45), _stay(nights=30)),
    _call("book: negative", _stay(guests=[{**ADA, "age": -1}]), _stay(guests=[{**ADA, "age": 0}])),
    _call("book: no guests", _stay(guests=[]), BOOK),
    _call("book: one guest, no list", _stay(guests=ADA), BOOK),
    _call("book: stay as text", {"stay": str(STAY)}, BOOK),
    _call(
        "book: stay as JSON text",
        {
            "stay": '{"check_in": "2026-05-01", "nights": "2", "guests": "[{\\"first_name\\":'
            ' \\"Ada\\", \\"last_name\\": \\"L\\"}]"}'
        },
        BOOK,
    ),
    _call("book: flag as text", {**BOOK, "breakfast": "yes"}, {**BOOK, "breakfast": True}),
    _call("book: flag as word", {**BOOK, "breakfast": "vegan"}, {**BOOK, "breakfast": True}),
    _call("book: too many guests", _stay(guests=[ADA] * 5), _stay(guests=[ADA] * 4), "stay.guests"),
    _call("book: missing inside", {"stay": {"nights": 2, "guests": [ADA]}}, BOOK, "stay.check_in"),
    _call("paint: tag misspelt", {"shapes": [{"shape": "bx", "width": 1, "height": 2}]}, PAINT),
    _call("paint: tag in capitals", {"shapes": [{"shape": "Box", "width": 1, "height": 2}]}, PAINT),
    _call("paint: other tag", {"shapes": [{"shape": "rectangle", "width": 1, "height": 2}]}, PAINT, "shapes"),
    _call("paint: tag under another name", {"shapes": [{"shapes": "box", "width": 1, "height": 2}]}, PAINT),
    _call("paint: key of a member", {"shapes": [{"shape": "box", "widht": 1, "height": 2}]}, PAINT),
    _call("paint: key in capitals", {"shapes": [{"shape": "box", "Width": 1, "HEIGHT": 2}]}, PAINT),
    _call(
        "paint: abbreviated",
        {"shapes": [{"shape": "circle", "rad": 1}]},
        {"shapes": [{"shape": "circle", "radius": 1}]},
    ),
    _call("paint: one for a list", {"shapes": PAINT["shapes"][0]}, PAINT),
    _call(
        "paint: many alike",
        {"shapes": [{"shape": "circle", "radius": "big"}] * 6},
        {"shapes": [{"shape": "circle", "radius": 1}] * 6},
    ),
    _call("paint: extra word", {**PAINT, "opacity_value": 0.5}, {**PAINT, "opacity": 0.5}),
    _call(
        "query: filter misspelt",
        {**Q, "filters": [{"field": "a", "contians": "b"}]},
        {**Q, "filters": [{"field": "a", "contains": "b"}]},
    ),
    _call(
        "query: filter abbreviated",
        {**Q, "filters": [{"field": "a", "min": 1, "max": 2}]},
        {**Q, "filters": [{"field": "a", "minimum": 1, "maximum": 2}]},
    ),
    _call(
        "query: filter wrong",
        {**Q, "filters": [{"field": "a", "minimum": "low"}]},
        {**Q, "filters": [{"field": "a", "minimum": 1}]},
    ),
    _call(
        "query: filters as one",
        {**Q, "filters": {"field": "a", "contains": "b"}},
        {**Q, "filters": [{"field": "a", "contains": "b"}]},
    ),
    _call("query: order", {**Q, "orderBy": "a"}, {**Q, "order_by": "a"}),
    _call("query: order shortened", {**Q, "order": "a"}, {**Q, "order_by": "a"}),
    _call("query: size", {**Q, "page_size": 1000}, {**Q, "page_size": 100}),
    _call("query: size misspelt", {**Q, "pagesize": 10}, {**Q, "page_size": 10}),
    _call("query: not asked for", {**Q, "verbose": True}, Q),
    _call("query: null", {**Q, "page_size": None}, Q),
    _call("query: null as text", {**Q, "filters": "null"}, Q),
    _call("email: synonym", {"to": "a@b.c", "subject": "Hi", "body": "Text"}, MAIL),
    _call("email: two misspelt", {"recipent": "a@b.c", "subjct": "Hi", "body": "Text"}, MAIL),
    _call("email: too long", {**MAIL, "subject": "x" * 30}, {**MAIL, "subject": "x" * 20}),
    _call("email: text for a list", {**MAIL, "cc": "d@e.f"}, {**MAIL, "cc": ["d@e.f"]}),
    _call("email: time", {**MAIL, "send_at": "in an hour"}, {**MAIL, "send_at": "2026-03-14T15:09:26Z"}),
    _call("email: number for text", {**MAIL, "body": 5}, {**MAIL, "body": "5"}),
    _call("email: nothing", {}, MAIL, "recipient", "subject", "body"),
    _call("email: in kwargs", {"kwargs": MAIL}, MAIL),
    _call("email: in the tool's name", {"email": MAIL}, MAIL),
    _call(
        "email: in parameters as text", {"parameters": "{'recipient': 'a@b.c', 'subject': 'Hi', 'body': 'Text'}"}, MAIL
    ),
    _call("email: twice wrapped", {"input": {"args": MAIL}}, MAIL),
    _call("email: line breaks", '{"recipient": "a@b.c", "subject": "Hi", "body": "Text",}', MAIL),
    _call("email: not JSON", "recipient=a@b.c", MAIL),
    _call("go: object for a point", {"start": {"lat": 1, "lon": 2}}, GO, "start"),
    _call("go: price", {**GO, "price": "cheap"}, {**GO, "price": 1}, "price"),
    _call("go: choice with a space", {**GO, "mode": "on foot"}, {**GO, "mode": "on_foot"}),
    _call("plan: step misspelt", {"goal": "x", "steps": [{"acton": "run", "timeout_seconds": 5}]}, PLAN),
    _call("plan: shortened", {"goal": "x", "steps": [{"action": "run", "timeout": 5}]}, PLAN),
    _call("plan: choice", {"goal": "x", "steps": [{"action": "RUN", "timeout_seconds": 5}]}, PLAN),
    _call("plan: unlike", {**PLAN, "author": "me"}, PLAN),
    _call(
        "plan: pattern",
        {"goal": "x", "steps": [{"action": "run", "file_path": "a"}]},
        {"goal": "x", "steps": [{"action": "run", "file_path": "/a"}]},
        "steps",
    ),
    _call("plan: moment", {**PLAN, "started_at": "now"}, {**PLAN, "started_at": "2026-03-14T15:09:26Z"}),
    _call("plan: number as text", {"goal": "x", "steps": [{"action": "run", "timeout_seconds": "5"}]}, PLAN),
    _call("plan: steps as text", {"goal": "x", "steps": '[{"action": "run", "timeout_seconds": 5}]'}, PLAN),
]
