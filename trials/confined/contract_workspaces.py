"""Requests to the routes of workspaces that cause each documented answer."""

from trials.contract_cases import Case, list_post_cases, list_read_cases

_ALL, _FILES = "/workspaces/one", "/workspaces/one/files"
# The id of a file is made of its path.
_FILE = f"{_FILES}/cfile_YS50eHQ"
_CONTENT = f"{_FILE}/content"
_SHOW, _REMOVE = "get /workspaces/{workspace_id}", "delete /workspaces/{workspace_id}"
_SEND, _LIST = "post /workspaces/{workspace_id}/files", "get /workspaces/{workspace_id}/files"
_SHOW_FILE, _DELETE = f"{_LIST}/{{file_id}}", f"delete {_LIST.removeprefix('get ')}/{{file_id}}"
_READ = f"{_SHOW_FILE}/content"
_KEEP, _TERM = "post /workspaces/{workspace_id}", {"expires_after": {"minutes": 5}}
_PARTS = {"content-type": "multipart/form-data; boundary=b"}


def _write_form(name: str, path: str = "") -> bytes:
    file = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\nhello\r\n'
    place = f'--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n{path}\r\n' if path else ""
    return f"{file}{place}--b--\r\n".encode()


def _list_wrong_cases(operation: str, path: str, missing: str) -> tuple[Case, ...]:
    return Case(operation, 404, missing), Case(operation, 422, f"{path}?wrong=1"), *list_read_cases(operation, path)


WORKSPACE_CASES = (
    Case(_SEND, 200, _FILES, _write_form("a.txt"), _PARTS),
    Case(_SEND, 404, _FILES, {"file_id": "none"}),
    Case(_SEND, 409, _FILES, _write_form("b.txt", "a.txt/below"), _PARTS),
    Case(_SEND, 422, _FILES, {}),
    *list_post_cases(_SEND, _FILES, {"file_id": "none"}),
    Case(_KEEP, 200, _ALL, _TERM),
    Case(_KEEP, 404, "/workspaces/a%01", _TERM),
    Case(_KEEP, 422, _ALL, {"expires_after": {"minutes": 0}}),
    *list_post_cases(_KEEP, _ALL, _TERM),
    Case(_SHOW, 200, _ALL),
    *_list_wrong_cases(_SHOW, _ALL, "/workspaces/none"),
    Case(_LIST, 200, _FILES),
    *_list_wrong_cases(_LIST, _FILES, "/workspaces/none/files"),
    Case(_SHOW_FILE, 200, _FILE),
    *_list_wrong_cases(_SHOW_FILE, _FILE, f"{_FILES}/none"),
    Case(_READ, 200, _CONTENT),
    Case(_READ, 206, _CONTENT, headers={"range": "bytes=0-1"}),
    Case(_READ, 304, _CONTENT, headers={"if-none-match": "*"}),
    Case(_READ, 416, _CONTENT, headers={"range": "bytes=99-"}),
    *_list_wrong_cases(_READ, _CONTENT, f"{_FILES}/none/content"),
    *_list_wrong_cases(_DELETE, _FILE, f"{_FILES}/none"),
    Case(_DELETE, 200, _FILE),
    *_list_wrong_cases(_REMOVE, _ALL, "/workspaces/none"),
    Case(_REMOVE, 204, _ALL),
)
# Of a server that takes one workspace with one file.
NARROW_CASES = (
    Case(_SEND, 200, _FILES, _write_form("a.txt"), _PARTS),
    Case(_SEND, 429, _FILES, _write_form("b.txt"), _PARTS),
    Case(_SEND, 503, "/workspaces/two/files", _write_form("a.txt"), _PARTS),
    Case(_KEEP, 503, "/workspaces/two", _TERM),
)
NARROW = {"SIDECALL_WORKSPACE_MAX_ENTRIES": "1", "SIDECALL_MAX_WORKSPACES": "1"}
# It takes a program that has written a larger file than may be: tests/features/workspaces/rest has one.
BY_PROGRAMS = {(_READ, 413)}
