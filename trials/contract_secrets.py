"""Requests to the routes of callers' secrets and of the audit that cause each documented answer."""

from trials.contract_cases import Case, list_post_cases, list_read_cases

_PUT, _LIST, _DELETE = "put /secrets/{name}", "get /secrets", "delete /secrets/{name}"
_AUDIT = "get /audit"
_RIGHT = {"value": "hunter2"}

# Of a server that keeps one secret.
SECRETS = (
    Case(_PUT, 204, "/secrets/ONE", _RIGHT),
    Case(_PUT, 409, "/secrets/OTHER", _RIGHT),
    Case(_PUT, 422, "/secrets/ONE", {"value": ""}),
    *list_post_cases(_PUT, "/secrets/ONE", _RIGHT),
    Case(_LIST, 200, "/secrets"),
    *list_read_cases(_LIST, "/secrets"),
    *list_read_cases(_DELETE, "/secrets/ONE"),
    Case(_DELETE, 204, "/secrets/ONE"),
    Case(_DELETE, 404, "/secrets/ONE"),
    Case(_DELETE, 422, "/secrets/1"),
    Case(_AUDIT, 200, "/audit"),
    Case(_AUDIT, 422, "/audit?since=yesterday"),
    *list_read_cases(_AUDIT, "/audit"),
)
# Of one without a key.
KEYLESS = (Case(_PUT, 404, "/secrets/ONE", _RIGHT),)
# From a server whose store cannot be written.
UNKEPT = (Case(_PUT, 503, "/secrets/ONE", _RIGHT), Case(_DELETE, 503, "/secrets/ONE"))
