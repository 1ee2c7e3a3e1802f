"""A query parameter that nobody reads is refused, and the nearest one named."""

from typing import Any

import pytest

from tests.kit.clients import MakeClient
from tests.kit.tools import echo

CALL: dict[str, Any] = {"name": "echo", "args": {"text": "hello"}, "id": "call_1"}


@pytest.mark.parametrize(
    ("method", "target", "detail"),
    [
        ("POST", "/tool_calls?fromat=openai", "There is no parameter `fromat`; did you mean `format`?"),
        ("POST", "/tool_calls?Timeout=1", "There is no parameter `Timeout`; did you mean `timeout`?"),
        (
            "POST",
            "/tool_calls/batch?zz=1&timeout=1",
            "There is no parameter `zz`; there are `format`, `dry_run`, `missing_context`, `timeout`.",
        ),
        ("GET", "/tools?tags=a", "There is no parameter `tags`; did you mean `tag`?"),
        ("GET", "/tools/echo?x=", "There is no parameter `x`; there are none here."),
        ("GET", f"/tools/echo?{'y' * 100}=1", f"There is no parameter `{'y' * 63}…`; there are none here."),
        ("GET", "/approvals?state=pending", "There is no parameter `state`; did you mean `status`?"),
    ],
)
async def test_a_misspelt_parameter_is_refused(make_client: MakeClient, method: str, target: str, detail: str) -> None:
    """It would otherwise be answered as if it had been left out, and the tool have run."""
    client = await make_client(echo)

    response = await client.request(method, target, json=CALL if method == "POST" else None)

    assert (response.status_code, response.json()["type"]) == (422, "urn:sidecall:problem:unknown-parameter")
    assert response.json()["detail"] == detail


@pytest.mark.parametrize("name", ["timeout", "dry_run"])
async def test_a_parameter_that_came_twice_is_refused(make_client: MakeClient, name: str) -> None:
    """It is known, but nobody can tell which of the two counts."""
    client = await make_client(echo)

    response = await client.post(f"/tool_calls?{name}=1&{name}=2", json=CALL)

    assert (response.status_code, response.json()["type"]) == (422, "urn:sidecall:problem:invalid-parameter")
    assert response.json()["detail"] == f"The parameter `{name}` came 2 times; send it once."


@pytest.mark.parametrize("target", ["/healthz?now=1", "/readyz?x", "/metrics?name[]=up"])
async def test_probes_may_ask_what_they_like(make_client: MakeClient, target: str) -> None:
    """Orchestrators and scrapers add parameters of their own."""
    client = await make_client(echo)

    assert (await client.get(target)).status_code == 200


@pytest.mark.parametrize(
    "written", ["5_0", "%2B5", "+5", " 5", "5 ", "5%0A", "\uff15\uff10", "\u0665", "nan", "inf", "0x5", ""]
)
@pytest.mark.parametrize(
    ("method", "target", "form"),
    [
        ("GET", "/approvals?limit=", "Write it as a whole number in digits, such as 50"),
        ("POST", "/tool_calls?timeout=", "Write it as a number in digits, such as 2.5"),
        ("POST", "/tool_calls/batch?timeout=", "Write it as a number in digits, such as 2.5"),
        ("POST", "/approvals/x?timeout=", "Write it as a number in digits, such as 2.5"),
    ],
)
async def test_only_what_everybody_reads_is_a_number(
    make_client: MakeClient, method: str, target: str, form: str, written: str
) -> None:
    """A plus sign is a blank there; Python would take most of these."""
    client = await make_client(echo)

    response = await client.request(method, target + written, json=CALL if method == "POST" else None)

    assert (response.status_code, response.json()["type"]) == (422, "urn:sidecall:problem:invalid-parameter")
    assert response.json()["detail"] == f"{target[:-1].partition('?')[2]}: {form}"


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("limit=1", 200),
        ("limit=0050", 200),
        ("limit=1e2", 422),
        ("limit=5.0", 422),
        ("limit=-1", 422),
        ("limit=" + "9" * 5000, 422),
    ],
)
async def test_a_limit_is_a_whole_number(make_client: MakeClient, target: str, status: int) -> None:
    """Within its bounds."""
    client = await make_client(echo)

    assert (await client.get(f"/approvals?{target}")).status_code == status


@pytest.mark.parametrize(
    ("written", "status"),
    [("5", 200), ("2.5", 200), (".5", 200), ("5.", 200), ("5e-1", 200), ("-1", 422), ("1e999", 422)],
)
async def test_a_time_may_have_a_fraction(make_client: MakeClient, written: str, status: int) -> None:
    """As in every language."""
    client = await make_client(echo)

    assert (await client.post(f"/tool_calls?timeout={written}", json=CALL)).status_code == status
