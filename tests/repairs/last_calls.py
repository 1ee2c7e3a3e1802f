"""Wrong calls that were written once all others were mended."""

from typing import Any

from tests.repairs.wrong_calls import WrongCall

BY: dict[str, Any] = {"user_name": "ada"}
TICKET: dict[str, Any] = {"title": "Broken", "reporter": BY}
PERIOD = {"start_date": "2026-07-01", "end_date": "2026-07-08"}
ROOMS: dict[str, Any] = {"location": "Porto", "period": PERIOD}
ITEM: dict[str, Any] = {"description": "Tea", "unitPrice": 3}
INVOICE: dict[str, Any] = {"customer_id": "cus_0001", "items": [ITEM]}
SAID: dict[str, Any] = {"author": "ada", "text": "Hi"}
RELEASE: dict[str, Any] = {"version": "1.2.0", "steps": [{"run": "test"}]}


def _call(name: str, sent: Any, meant: dict[str, Any], *free: str) -> WrongCall:
    tool, _, title = name.partition(": ")
    return WrongCall(f"{tool}: {title}", tool, sent, meant, free)


def _release(**changes: Any) -> dict[str, Any]:
    return {**RELEASE, **changes}


LAST_CALLS = [
    _call("open_ticket: severity in words", {**TICKET, "severity": "critical"}, {**TICKET, "severity": 3}, "severity"),
    _call("open_ticket: severity beyond", {**TICKET, "severity": 5}, {**TICKET, "severity": 3}, "severity"),
    _call("open_ticket: severity as text", {**TICKET, "severity": "2"}, {**TICKET, "severity": 2}),
    _call("open_ticket: reporter as a name", {"title": "Broken", "reporter": "ada"}, TICKET),
    _call("open_ticket: reporter's name", {"title": "Broken", "reporter": {"name": "ada"}}, TICKET),
    _call("open_ticket: username", {"title": "Broken", "reporter": {"username": "ada"}}, TICKET),
    _call("open_ticket: more of the reporter", {"title": "Broken", "reporter": {**BY, "email": "a@b.c"}}, TICKET),
    _call(
        "open_ticket: too long a name",
        {"title": "Broken", "reporter": {"user_name": "ada" * 5}},
        {"title": "Broken", "reporter": {"user_name": "adaadaadaada"}},
    ),
    _call(
        "open_ticket: team",
        {"title": "Broken", "reporter": {**BY, "team": "Eng"}},
        {"title": "Broken", "reporter": {**BY, "team": "engineering"}},
    ),
    _call(
        "open_ticket: label with spaces",
        {**TICKET, "labels": ["feature request"]},
        {**TICKET, "labels": ["feature-request"]},
    ),
    _call("open_ticket: labels as text", {**TICKET, "labels": "bug"}, {**TICKET, "labels": ["bug"]}),
    _call(
        "open_ticket: days in words",
        {**TICKET, "due_in_days": "next week"},
        {**TICKET, "due_in_days": 1},
        "due_in_days",
    ),
    _call("open_ticket: due", {**TICKET, "due_days": 7}, {**TICKET, "due_in_days": 7}),
    _call(
        "open_ticket: custom fields nested",
        {**TICKET, "custom_fields": {"a": {"b": 1}}},
        {**TICKET, "custom_fields": {"a": 1}},
        "custom_fields.a",
    ),
    _call("open_ticket: in a ticket", {"ticket": TICKET}, TICKET),
    _call("open_ticket: summary and user", {"summary": "Broken", "user": BY}, TICKET),
    _call(
        "find_rooms: start and end",
        {"location": "Porto", "period": {"start": "2026-07-01", "end": "2026-07-08"}},
        ROOMS,
    ),
    _call(
        "find_rooms: from and to", {"location": "Porto", "period": {"from": "2026-07-01", "to": "2026-07-08"}}, ROOMS
    ),
    _call("find_rooms: period as text", {"location": "Porto", "period": "2026-07-01/2026-07-08"}, ROOMS),
    _call("find_rooms: dates at the top", {"location": "Porto", **PERIOD}, ROOMS),
    _call(
        "find_rooms: date backwards",
        {"location": "Porto", "period": {**PERIOD, "end_date": "08-07-2026"}},
        ROOMS,
        "period.end_date",
    ),
    _call("find_rooms: city", {"city": "Porto", "period": PERIOD}, ROOMS),
    _call("find_rooms: bed as text", {**ROOMS, "beds": ["queen"]}, {**ROOMS, "beds": [{"size": "queen"}]}),
    _call(
        "find_rooms: bed misspelt",
        {**ROOMS, "beds": [{"size": "quen", "count": 2}]},
        {**ROOMS, "beds": [{"size": "queen", "count": 2}]},
    ),
    _call(
        "find_rooms: amenity in capitals",
        {**ROOMS, "amenities": {"WiFi": True}},
        {**ROOMS, "amenities": {"wifi": True}},
    ),
    _call(
        "find_rooms: amenity misspelt",
        {**ROOMS, "amenities": {"prking": True}},
        {**ROOMS, "amenities": {"parking": True}},
    ),
    _call(
        "find_rooms: amenity unknown",
        {**ROOMS, "amenities": {"wifi": True, "sauna": True}},
        {**ROOMS, "amenities": {"wifi": True}},
    ),
    _call(
        "find_rooms: amenities as a list",
        {**ROOMS, "amenities": ["wifi"]},
        {**ROOMS, "amenities": {"wifi": True}},
        "amenities",
    ),
    _call("find_rooms: price with a sign", {**ROOMS, "max_price": "€200"}, {**ROOMS, "max_price": 200}, "max_price"),
    _call("find_rooms: stars as one", {**ROOMS, "star_rating": 4}, {**ROOMS, "star_rating": [4, 4]}, "star_rating"),
    _call("find_rooms: stars beyond", {**ROOMS, "star_rating": [3, 6]}, {**ROOMS, "star_rating": [3, 5]}),
    _call(
        "send_invoice: price in snake case, wrong",
        {**INVOICE, "items": [{"description": "Tea", "unit_price": -1}]},
        {**INVOICE, "items": [{"description": "Tea", "unitPrice": 0.0}]},
    ),
    _call("send_invoice: price by another name", {**INVOICE, "items": [{"description": "Tea", "price": 3}]}, INVOICE),
    _call("send_invoice: name of an item", {**INVOICE, "items": [{"name": "Tea", "unitPrice": 3}]}, INVOICE),
    _call(
        "send_invoice: qty", {**INVOICE, "items": [{**ITEM, "qty": 2}]}, {**INVOICE, "items": [{**ITEM, "quantity": 2}]}
    ),
    _call(
        "send_invoice: discount as a number",
        {**INVOICE, "items": [{**ITEM, "discount": 10}]},
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "percent", "percent_off": 10}}]},
        "items",
    ),
    _call(
        "send_invoice: discount without its type",
        {**INVOICE, "items": [{**ITEM, "discount": {"percent_off": 10}}]},
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "percent", "percent_off": 10}}]},
    ),
    _call(
        "send_invoice: discount's type",
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "percentage", "percent_off": 10}}]},
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "percent", "percent_off": 10}}]},
    ),
    _call(
        "send_invoice: discount's key",
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "fixed", "amount": 2}}]},
        {**INVOICE, "items": [{**ITEM, "discount": {"type": "fixed", "amount_off": 2}}]},
    ),
    _call("send_invoice: customer", {"customer": "cus_0001", "items": [ITEM]}, INVOICE),
    _call("send_invoice: customer's number", {**INVOICE, "customer_id": 1}, INVOICE),
    _call("send_invoice: terms", {**INVOICE, "payment_terms": "Net 15"}, {**INVOICE, "payment_terms": "net_15"}),
    _call("send_invoice: line_items", {"customer_id": "cus_0001", "line_items": [ITEM]}, INVOICE),
    _call(
        "send_invoice: items in Python's text",
        {"customer_id": "cus_0001", "items": "[{'description': 'Tea', 'unitPrice': 3, 'discount': None}]"},
        INVOICE,
    ),
    _call(
        "post_thread: deep misspelt",
        {"thread": {**SAID, "replies": [{**SAID, "replys": [SAID]}]}},
        {"thread": {**SAID, "replies": [{**SAID, "replies": [SAID]}]}},
    ),
    _call(
        "post_thread: reply as text",
        {"thread": {**SAID, "replies": ["Hello"]}},
        {"thread": {**SAID, "replies": [SAID]}},
    ),
    _call("post_thread: empty text", {"thread": {"author": "ada", "text": ""}}, {"thread": SAID}, "thread.text"),
    _call("post_thread: message", {"thread": {"author": "ada", "message": "Hi"}}, {"thread": SAID}),
    _call("post_thread: channel", {"thread": SAID, "channel": "General"}, {"thread": SAID, "channel": "#general"}),
    _call("post_thread: flat", SAID, {"thread": SAID}),
    _call("release: version", _release(version="v1.2"), _release(version="1.2.0")),
    _call("release: version as a number", _release(version=1.2), _release(version="1.2.0")),
    _call("release: steps as texts", _release(steps=["test"]), RELEASE),
    _call("release: step's command", _release(steps=[{"command": "test"}]), RELEASE),
    _call(
        "release: retries",
        _release(steps=[{"run": "test", "retries": 9}]),
        _release(steps=[{"run": "test", "retry_count": 5}]),
    ),
    _call(
        "release: inside on_failure",
        _release(steps=[{"run": "test", "onFailure": {"run": "undo", "retryCount": 1}}]),
        _release(steps=[{"run": "test", "on_failure": {"run": "undo", "retry_count": 1}}]),
    ),
    _call(
        "release: target in capitals",
        _release(targets={"Production": ["a.b"]}),
        _release(targets={"production": ["a.b"]}),
    ),
    _call("release: target shortened", _release(targets={"prod": ["a.b"]}), _release(targets={"production": ["a.b"]})),
    _call(
        "release: target as text",
        _release(targets={"staging": "a.b"}),
        _release(targets={"staging": ["a.b"]}),
        "targets.staging",
    ),
    _call("release: window's key", _release(window={"opens": "09:00:00"}), _release(window={"opens_at": "09:00:00"})),
    _call("release: window's time", _release(window={"opens_at": "9am"}), _release(window={"opens_at": "15:09:26"})),
    _call("release: window in words", _release(window="anytime"), _release(window="any"), "window"),
    _call("release: notify as text", _release(notify="a@b.c"), _release(notify=["a@b.c"]), "notify"),
    _call("release: rollout in percent", _release(rollout="50%"), _release(rollout=50), "rollout"),
    _call("release: rollout as text", _release(rollout="50"), _release(rollout=50)),
]
