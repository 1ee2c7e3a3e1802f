"""Wrong calls of the tools that products have."""

from typing import Any

from tests.repairs.wrong_calls import WrongCall

ADA = {"given_name": "Ada", "family_name": "King"}
FLIGHT: dict[str, Any] = {"origin": "LIS", "destination": "OSL", "departure": "2026-07-01", "passengers": [ADA]}
PERSON: dict[str, Any] = {"firstName": "Ada", "lastName": "King"}
EVENT: dict[str, Any] = {"title": "Sync", "start": "2026-07-01T09:00:00Z", "duration": "PT1H30M"}
CARD = {"method": "card", "token": "tok_abc123"}
IBAN = "DE89370400440532013000"
PAY: dict[str, Any] = {"amount_cents": 500, "source": CARD}
HERE = {"center": {"lat": 38.7, "lon": -9.1}}
MAIL: dict[str, Any] = {"to": ["a@b.c"], "subject": "Hi", "body": "Text"}
SHOES = {"query": "shoes"}


def _call(name: str, sent: Any, meant: dict[str, Any], *free: str) -> WrongCall:
    tool, _, title = name.partition(": ")
    return WrongCall(f"{tool}: {title}", tool, sent, meant, free)


def _event(**changes: Any) -> dict[str, Any]:
    return {**EVENT, **changes}


LIFE_CALLS = [
    _call("book_flight: airports in small letters", {**FLIGHT, "origin": "lis", "destination": "osl"}, FLIGHT),
    _call("book_flight: city for an airport", {**FLIGHT, "origin": "Lisbon"}, FLIGHT),
    _call(
        "book_flight: longer date name",
        {**{k: v for k, v in FLIGHT.items() if k != "departure"}, "departure_date": "2026-07-01"},
        FLIGHT,
    ),
    _call("book_flight: passengers as a count", {**FLIGHT, "passengers": 1}, FLIGHT),
    _call("book_flight: passenger as a name", {**FLIGHT, "passengers": ["Ada King"]}, FLIGHT),
    _call("book_flight: name in one", {**FLIGHT, "passengers": [{"name": "Ada King"}]}, FLIGHT, "passengers"),
    _call(
        "book_flight: other words for names",
        {**FLIGHT, "passengers": [{"first_name": "Ada", "last_name": "King"}]},
        FLIGHT,
    ),
    _call(
        "book_flight: cabin with a space",
        {**FLIGHT, "cabin": "Premium Economy"},
        {**FLIGHT, "cabin": "premium_economy"},
    ),
    _call("book_flight: cabin unknown", {**FLIGHT, "cabin": "first"}, {**FLIGHT, "cabin": "economy"}, "cabin"),
    _call("book_flight: choice of numbers as text", {**FLIGHT, "max_stops": "0"}, {**FLIGHT, "max_stops": 0}),
    _call("book_flight: choice of numbers in words", {**FLIGHT, "max_stops": "nonstop"}, {**FLIGHT, "max_stops": 0}),
    _call(
        "book_flight: more stops than there are", {**FLIGHT, "max_stops": 3}, {**FLIGHT, "max_stops": 2}, "max_stops"
    ),
    _call("book_flight: limit as a number", {**FLIGHT, "price_limit": 300}, {**FLIGHT, "price_limit": {"amount": 300}}),
    _call(
        "book_flight: limit with a sign",
        {**FLIGHT, "price_limit": {"amount": "$300", "currency": "USD"}},
        {**FLIGHT, "price_limit": {"amount": 300, "currency": "USD"}},
        "price_limit.amount",
    ),
    _call(
        "book_flight: currency in small letters",
        {**FLIGHT, "price_limit": {"amount": 300, "currency": "usd"}},
        {**FLIGHT, "price_limit": {"amount": 300, "currency": "USD"}},
    ),
    _call(
        "book_flight: currency as a sign",
        {**FLIGHT, "price_limit": {"amount": 300, "currency": "€"}},
        {**FLIGHT, "price_limit": {"amount": 300, "currency": "EUR"}},
    ),
    _call(
        "book_flight: empty date", {**FLIGHT, "return_date": ""}, {**FLIGHT, "return_date": "2026-03-14"}, "return_date"
    ),
    _call("book_flight: null as text", {**FLIGHT, "return_date": "None"}, FLIGHT),
    _call(
        "book_flight: one letter changed deep",
        {**FLIGHT, "passengers": [{**ADA, "birthdate": "1990-01-01"}]},
        {**FLIGHT, "passengers": [{**ADA, "birth_date": "1990-01-01"}]},
    ),
    _call(
        "book_flight: date of birth",
        {**FLIGHT, "passengers": [{**ADA, "birth_date": "01.02.1990"}]},
        {**FLIGHT, "passengers": [{**ADA, "birth_date": "2026-03-14"}]},
    ),
    _call(
        "create_contact: snake case for camel case",
        {"contact": {"first_name": "Ada", "last_name": "King"}},
        {"contact": PERSON},
    ),
    _call("create_contact: flat", {**PERSON}, {"contact": PERSON}),
    _call(
        "create_contact: optional in snake case",
        {"contact": {**PERSON, "job_title": "CTO"}},
        {"contact": {**PERSON, "jobTitle": "CTO"}},
    ),
    _call(
        "create_contact: mail as text",
        {"contact": {**PERSON, "mailAddresses": ["a@b.c"]}},
        {"contact": {**PERSON, "mailAddresses": [{"address": "a@b.c"}]}},
    ),
    _call(
        "create_contact: mail not one",
        {"contact": {**PERSON, "mailAddresses": [{"address": "ada"}]}},
        {"contact": {**PERSON, "mailAddresses": [{"address": "a@b.c"}]}},
    ),
    _call(
        "create_contact: mail key",
        {"contact": {**PERSON, "mailAddresses": [{"type": "home", "adress": "a@b.c"}]}},
        {"contact": {**PERSON, "mailAddresses": [{"address": "a@b.c"}]}},
    ),
    _call(
        "create_contact: phones as a list",
        {"contact": PERSON, "phones": ["+351"]},
        {"contact": PERSON, "phones": {"home": "+351"}},
        "phones",
    ),
    _call(
        "create_contact: phone as a number",
        {"contact": PERSON, "phones": {"home": 351}},
        {"contact": PERSON, "phones": {"home": "351"}},
    ),
    _call(
        "create_contact: status by its name",
        {"contact": PERSON, "lead_status": "CLOSED_WON"},
        {"contact": PERSON, "lead_status": "closed-won"},
    ),
    _call(
        "create_contact: status cut",
        {"contact": PERSON, "lead_status": "qualify"},
        {"contact": PERSON, "lead_status": "qualified"},
    ),
    _call("create_contact: owner in snake case", {"contact": PERSON, "owner_id": 7}, {"contact": PERSON, "ownerId": 7}),
    _call("create_contact: owner zero", {"contact": PERSON, "ownerId": 0}, {"contact": PERSON, "ownerId": 1}),
    _call(
        "search_products: facet as text", {**SHOES, "facets": {"color": "red"}}, {**SHOES, "facets": {"color": ["red"]}}
    ),
    _call(
        "search_products: facets as pairs",
        {**SHOES, "facets": [{"color": ["red"]}]},
        {**SHOES, "facets": {"color": ["red"]}},
        "facets",
    ),
    _call(
        "search_products: price keys shortened",
        {**SHOES, "price": {"min": 10, "max": 20}},
        {**SHOES, "price": {"min_price": 10, "max_price": 20}},
    ),
    _call("search_products: price at the top", {**SHOES, "min_price": 10}, {**SHOES, "price": {"min_price": 10}}),
    _call(
        "search_products: price in camel case",
        {**SHOES, "price": {"minPrice": 10}},
        {**SHOES, "price": {"min_price": 10}},
    ),
    _call(
        "search_products: price as text", {**SHOES, "price": "10-20"}, {**SHOES, "price": {"min_price": 10}}, "price"
    ),
    _call("search_products: sort dashed", {**SHOES, "sort_by": "price-asc"}, {**SHOES, "sort_by": "price_asc"}),
    _call("search_products: sort shortened", {**SHOES, "sort": "newest"}, {**SHOES, "sort_by": "newest"}),
    _call(
        "search_products: sort in words", {**SHOES, "sort_by": "cheapest"}, {**SHOES, "sort_by": "price_asc"}, "sort_by"
    ),
    _call("search_products: page zero", {**SHOES, "page": 0}, {**SHOES, "page": 1}),
    _call("search_products: page size by another name", {**SHOES, "perPage": 100}, {**SHOES, "per_page": 50}),
    _call("search_products: stock in words", {**SHOES, "in_stock": "available"}, {**SHOES, "in_stock": True}),
    _call("search_products: short query name", {"q": "shoes"}, SHOES),
    _call("create_event: duration in words", _event(duration="90 minutes"), _event(), "duration"),
    _call("create_event: start in words", _event(start="July 1st, 9am"), _event(start="2026-03-14T15:09:26Z"), "start"),
    _call(
        "create_event: guests as mails",
        _event(attendees=["a@b.c", "d@e.f"]),
        _event(attendees=[{"email": "a@b.c"}, {"email": "d@e.f"}]),
    ),
    _call(
        "create_event: guests as text", _event(attendees="a@b.c"), _event(attendees=[{"email": "a@b.c"}]), "attendees"
    ),
    _call(
        "create_event: guests misspelt",
        _event(attendees=[{"e_mail": "a@b.c"}, {"emial": "d@e.f"}]),
        _event(attendees=[{"email": "a@b.c"}, {"email": "d@e.f"}]),
    ),
    _call(
        "create_event: days in words",
        _event(recurrence={"freq": "WEEKLY", "by_day": ["Monday"]}),
        _event(recurrence={"freq": "weekly", "by_day": ["MO"]}),
        "recurrence.by_day",
    ),
    _call(
        "create_event: days in small letters",
        _event(recurrence={"freq": "weekly", "byday": ["mo", "we"]}),
        _event(recurrence={"freq": "weekly", "by_day": ["MO", "WE"]}),
    ),
    _call(
        "create_event: frequency long",
        _event(recurrence={"frequency": "weekly"}),
        _event(recurrence={"freq": "weekly"}),
    ),
    _call("create_event: recurrence as text", _event(recurrence="weekly"), _event(recurrence={"freq": "weekly"})),
    _call(
        "create_event: too many reminders",
        _event(reminder_minutes=[5, 10, 15, 20]),
        _event(reminder_minutes=[5, 10, 15]),
    ),
    _call("create_event: one reminder", _event(reminder_minutes=15), _event(reminder_minutes=[15])),
    _call("create_event: too long a title", _event(title="x" * 90), _event(title="x" * 80)),
    _call(
        "create_event: summary for title",
        {**{k: v for k, v in EVENT.items() if k != "title"}, "summary": "Sync"},
        EVENT,
    ),
    _call(
        "create_event: until with a time",
        _event(recurrence={"freq": "daily", "until": "2026-08-01T10:00:00Z"}),
        _event(recurrence={"freq": "daily", "until": "2026-03-14"}),
        "recurrence.until",
    ),
    _call("make_payment: tag under type", {**PAY, "source": {"type": "card", "token": "tok_abc123"}}, PAY),
    _call(
        "make_payment: tag shortened",
        {**PAY, "source": {"method": "sepa", "iban": IBAN}},
        {**PAY, "source": {"method": "sepa_debit", "iban": IBAN}},
    ),
    _call("make_payment: nested by its tag", {**PAY, "source": {"card": {"token": "tok_abc123"}}}, PAY),
    _call("make_payment: token pattern", {**PAY, "source": {"method": "card", "token": "abc"}}, PAY),
    _call(
        "make_payment: provider",
        {**PAY, "source": {"method": "wallet", "provider": "PayPal"}},
        {**PAY, "source": {"method": "wallet", "provider": "paypal"}},
    ),
    _call("make_payment: source as its tag", {**PAY, "source": "card"}, PAY),
    _call("make_payment: amount as money", {**PAY, "amount_cents": "5.00 EUR"}, PAY, "amount_cents"),
    _call("make_payment: amount of a half", {**PAY, "amount_cents": 499.5}, PAY, "amount_cents"),
    _call("make_payment: amount shortened", {"amount": 500, "source": CARD}, PAY),
    _call(
        "make_payment: splits wrong alike",
        {**PAY, "splits": [{"account": "1", "percent": 50}, {"account": "2", "percent": 50}]},
        {**PAY, "splits": [{"account": "acct_1", "percent": 50}, {"account": "acct_2", "percent": 50}]},
    ),
    _call(
        "make_payment: percent as text",
        {**PAY, "splits": [{"account": "acct_1", "percent": "50%"}]},
        {**PAY, "splits": [{"account": "acct_1", "percent": 50}]},
    ),
    _call(
        "make_payment: split with another key",
        {**PAY, "splits": [{"account": "acct_1", "percent": 50, "memo": "x"}]},
        {**PAY, "splits": [{"account": "acct_1", "percent": 50}]},
    ),
    _call("make_payment: metadata as text", {**PAY, "metadata": '{"order": "1"}'}, {**PAY, "metadata": {"order": "1"}}),
    _call("find_nearby: long names", {"center": {"latitude": 38.7, "longitude": -9.1}}, HERE),
    _call("find_nearby: lng", {"center": {"lat": 38.7, "lng": -9.1}}, HERE),
    _call("find_nearby: as text", {"center": "38.7,-9.1"}, HERE, "center"),
    _call("find_nearby: as a list", {"center": [38.7, -9.1]}, HERE, "center"),
    _call("find_nearby: flat", {"lat": 38.7, "lon": -9.1}, HERE),
    _call("find_nearby: out of range", {"center": {"lat": 138.7, "lon": -9.1}}, {"center": {"lat": 90, "lon": -9.1}}),
    _call("find_nearby: radius with a unit", {**HERE, "radius_m": "500m"}, {**HERE, "radius_m": 500}),
    _call("find_nearby: radius without", {**HERE, "radius": 500}, {**HERE, "radius_m": 500}),
    _call(
        "find_nearby: categories as text",
        {**HERE, "categories": "cafe, hotel"},
        {**HERE, "categories": ["cafe", "hotel"]},
        "categories",
    ),
    _call(
        "find_nearby: categories in plural",
        {**HERE, "categories": ["cafes", "Museums"]},
        {**HERE, "categories": ["cafe", "museum"]},
    ),
    _call(
        "find_nearby: box of three",
        {**HERE, "bounding_box": [1, 2, 3]},
        {**HERE, "bounding_box": [1, 2, 3, 1]},
        "bounding_box",
    ),
    _call(
        "find_nearby: box as an object",
        {**HERE, "bounding_box": {"north": 1, "south": 2, "east": 3, "west": 4}},
        {**HERE, "bounding_box": [1, 1, 1, 1]},
        "bounding_box",
    ),
    _call("send_mail: one recipient", {**MAIL, "to": "a@b.c"}, MAIL),
    _call("send_mail: recipients with commas", {**MAIL, "to": "a@b.c, d@e.f"}, {**MAIL, "to": ["a@b.c", "d@e.f"]}),
    _call("send_mail: recipients as objects", {**MAIL, "to": [{"email": "a@b.c"}]}, MAIL),
    _call("send_mail: recipient by name", {**MAIL, "to": ["Ada"]}, MAIL),
    _call("send_mail: list in text", {**MAIL, "cc": "['d@e.f']"}, {**MAIL, "cc": ["d@e.f"]}),
    _call(
        "send_mail: attachments by path",
        {**MAIL, "attachments": ["a.pdf"]},
        {**MAIL, "attachments": [{"filename": "a.pdf", "content": "a.pdf"}]},
        "attachments",
    ),
    _call(
        "send_mail: attachment keys",
        {**MAIL, "attachments": [{"fileName": "a", "contents": "b"}]},
        {**MAIL, "attachments": [{"filename": "a", "content": "b"}]},
    ),
    _call("send_mail: importance in words", {**MAIL, "importance": "high"}, {**MAIL, "importance": 1}, "importance"),
    _call("send_mail: message for body", {"to": ["a@b.c"], "subject": "Hi", "message": "Text"}, MAIL),
    _call("send_mail: in a message", {"message": MAIL}, MAIL),
]
