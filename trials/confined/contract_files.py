"""Requests to the routes of files and vector stores that cause each documented answer."""

import httpx

from trials.contract_cases import NAMELESS, Case, list_page_cases, list_post_cases, list_read_cases

_FILES, _STORES = "/files", "/vector_stores"
_SEND, _LIST = "post /files", "get /files"
_SHOW, _DELETE = "get /files/{file_id}", "delete /files/{file_id}"
_READ = f"{_SHOW}/content"
_MAKE, _LIST_STORES = "post /vector_stores", "get /vector_stores"
_ONE = "/vector_stores/{vector_store_id}"
_SHOW_STORE, _DELETE_STORE = f"get {_ONE}", f"delete {_ONE}"
_CHANGE = f"post {_ONE}"
_SEARCH, _ADD, _LIST_FILES = f"post {_ONE}/search", f"post {_ONE}/files", f"get {_ONE}/files"
_SHOW_FILE, _REMOVE = f"get {_ONE}/files/{{file_id}}", f"delete {_ONE}/files/{{file_id}}"
_PARTS = {"content-type": "multipart/form-data; boundary=b"}
_FORM = (
    b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"hello " * 100 + b"\r\n--b--\r\n"
)
# Of what was sent before: `make_known` says where it is.
_FILE, _STORE = "{upload}", "{store}"
_MEMBER = f"{_STORE}/files/{{member}}"


def make_known(client: httpx.Client) -> dict[str, str]:
    """Send a file and put it into a store, and return where they are."""
    sent = client.post(_FILES, content=_FORM, headers=_PARTS).json()["id"]
    made = client.post(_STORES, json={"file_ids": [sent]}).json()["id"]
    return {"{upload}": f"{_FILES}/{sent}", "{store}": f"{_STORES}/{made}", "{member}": sent}


def _list_wrong_cases(operation: str, path: str, missing: str) -> tuple[Case, ...]:
    return Case(operation, 404, missing), Case(operation, 422, f"{path}?wrong=1"), *list_read_cases(operation, path)


def _list_wrong_posts(operation: str, path: str, right: dict[str, str]) -> tuple[Case, ...]:
    missing = () if operation == _MAKE else (Case(operation, 404, path.replace(_STORE, f"{_STORES}/none"), right),)
    return Case(operation, 422, path, {"odd": 1}), *missing, *list_post_cases(operation, path, right)


FILE_CASES = (
    Case(_SEND, 200, _FILES, _FORM, _PARTS),
    Case(_SEND, 400, _FILES, _FORM, {**_PARTS, **NAMELESS}),
    Case(_SEND, 413, _FILES, b" " * 5_000_000, _PARTS),
    Case(_SEND, 415, _FILES, {}),
    Case(_SEND, 422, _FILES, b"--b--\r\n", _PARTS),
    *list_page_cases(_SEND, _FILES, {}),
    Case(_LIST, 200, _FILES),
    Case(_LIST, 422, f"{_FILES}?limit=0"),
    *list_read_cases(_LIST, _FILES),
    Case(_SHOW, 200, _FILE),
    *_list_wrong_cases(_SHOW, _FILE, f"{_FILES}/none"),
    Case(_READ, 200, f"{_FILE}/content"),
    Case(_READ, 206, f"{_FILE}/content", headers={"range": "bytes=0-1"}),
    Case(_READ, 304, f"{_FILE}/content", headers={"if-none-match": "*"}),
    Case(_READ, 416, f"{_FILE}/content", headers={"range": "bytes=999-"}),
    *_list_wrong_cases(_READ, f"{_FILE}/content", f"{_FILES}/none/content"),
    Case(_MAKE, 200, _STORES, {}),
    Case(_MAKE, 404, _STORES, {"file_ids": ["none"]}),
    *_list_wrong_posts(_MAKE, _STORES, {}),
    Case(_LIST_STORES, 200, _STORES),
    Case(_LIST_STORES, 422, f"{_STORES}?limit=0"),
    *list_read_cases(_LIST_STORES, _STORES),
    Case(_SHOW_STORE, 200, _STORE),
    *_list_wrong_cases(_SHOW_STORE, _STORE, f"{_STORES}/none"),
    Case(_CHANGE, 200, _STORE, {"name": "b"}),
    *_list_wrong_posts(_CHANGE, _STORE, {"name": "b"}),
    Case(_SEARCH, 200, f"{_STORE}/search", {"query": "hello"}),
    *_list_wrong_posts(_SEARCH, f"{_STORE}/search", {"query": "hello"}),
    Case(_ADD, 404, f"{_STORE}/files", {"file_id": "none"}),
    *_list_wrong_posts(_ADD, f"{_STORE}/files", {"file_id": "none"}),
    Case(_LIST_FILES, 200, f"{_STORE}/files"),
    *_list_wrong_cases(_LIST_FILES, f"{_STORE}/files", f"{_STORES}/none/files"),
    Case(_SHOW_FILE, 200, _MEMBER),
    *_list_wrong_cases(_SHOW_FILE, _MEMBER, f"{_STORE}/files/none"),
    *_list_wrong_cases(_REMOVE, _MEMBER, f"{_STORE}/files/none"),
    Case(_REMOVE, 200, _MEMBER),
    *_list_wrong_cases(_DELETE_STORE, _STORE, f"{_STORES}/none"),
    Case(_DELETE_STORE, 200, _STORE),
    *_list_wrong_cases(_DELETE, _FILE, f"{_FILES}/none"),
    Case(_DELETE, 200, _FILE),
)
# Of a server that takes one file.
NARROW_FILE_CASES = (Case(_SEND, 429, _FILES, _FORM, _PARTS),)
NARROW_FILES = {"SIDECALL_TOOLKITS": "file_search", "SIDECALL_FILE_SEARCH_MAX_FILES": "1"}
# They take two requests in the same moment, a thousand stores, an id in the body, or a database that fails:
# tests/features/vector_stores, tests/limits and tests/rest have them.
FILES_BY_CHANCE = {(_MAKE, 409), (_ADD, 409), (_MAKE, 429), (_ADD, 429), (_ADD, 200)} | {
    (operation, 503)
    for operation in (
        *(_SEND, _LIST, _SHOW, _DELETE, _READ, _MAKE, _LIST_STORES, _SHOW_STORE, _DELETE_STORE),
        *(_CHANGE, _SEARCH, _ADD, _LIST_FILES, _SHOW_FILE, _REMOVE),
    )
}
