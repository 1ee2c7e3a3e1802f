"""Problems, as RFC 9457 has them, read from answers over HTTP."""

import httpx


def read_problem(response: httpx.Response) -> tuple[str, str]:
    """Return the last word of a problem's type, and its detail; what is no whole problem fails the test."""
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == response.status_code
    assert problem["type"].startswith("urn:sidecall:problem:")
    return problem["type"].removeprefix("urn:sidecall:problem:"), problem["detail"]
