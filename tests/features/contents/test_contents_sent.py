"""A program keeps bytes here, and takes them away again."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.kit.clients import MakeClient

HEADER = "X-Name"


@pytest.mark.parametrize("media_type", ["application/pdf", "text/csv", 'text/plain; charset="utf-16"', "image/svg+xml"])
async def test_bytes_are_kept_as_they_are(make_client: MakeClient, media_type: str) -> None:
    """With what they are called."""
    client = await make_client(artifact_ttl=60)
    body = bytes(range(256))

    sent = await client.post("/contents", content=body, headers={"Content-Type": media_type})
    kept = sent.json()
    read = await client.get(sent.headers["Location"])

    assert (sent.status_code, kept["size"], kept["media_type"]) == (201, 256, media_type)
    assert kept["url"] == sent.headers["Location"] == f"/contents/{kept['id']}"
    assert datetime.fromisoformat(kept["expires_at"]) <= datetime.now(UTC) + timedelta(seconds=60)
    assert (read.content, read.headers["Content-Type"]) == (body, media_type)
    assert read.headers["Content-Disposition"] == "attachment"


async def test_what_is_not_named_is_bytes(make_client: MakeClient) -> None:
    """Also none at all."""
    client = await make_client()

    sent = await client.post("/contents", content=b"")

    assert (sent.status_code, sent.json()["size"], sent.json()["media_type"]) == (201, 0, "application/octet-stream")
    assert (await client.get(sent.json()["url"])).content == b""


@pytest.mark.parametrize(
    ("headers", "settings", "status", "problem"),
    [
        ({"Content-Type": "multipart/form-data; boundary=x"}, {}, 415, "unsupported-media-type"),
        ({"Content-Type": "pdf"}, {}, 415, "unsupported-media-type"),
        ({"Content-Type": "text/" + "x" * 65}, {}, 415, "unsupported-media-type"),
        ({"Content-Encoding": "gzip"}, {}, 415, "unsupported-media-type"),
        ({}, {"max_body_bytes": 1024}, 413, "body-too-large"),
        ({}, {"max_artifact_bytes": 9}, 413, "body-too-large"),
    ],
)
async def test_some_are_refused(
    make_client: MakeClient, headers: dict[str, str], settings: dict[str, int], status: int, problem: str
) -> None:
    """With what is wrong."""
    client = await make_client(**settings)

    answer = await client.post("/contents", content=b"x" * 1025, headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:sidecall:problem:{problem}")


async def test_a_content_can_be_deleted(make_client: MakeClient) -> None:
    """By its caller, once."""
    client = await make_client(caller_header=HEADER)
    ann, bob = {HEADER: "ann"}, {HEADER: "bob"}
    url = (await client.post("/contents", content=b"abc", headers=ann)).json()["url"]

    deleted = [(await client.delete(url, headers=it)).status_code for it in (bob, {}, ann, ann)]

    assert deleted == [404, 404, 204, 404]
    assert (await client.get(url, headers=ann)).status_code == 404


async def test_a_caller_has_a_quota(make_client: MakeClient) -> None:
    """Over it nothing is kept until something is deleted; others are not touched."""
    client = await make_client(caller_header=HEADER, max_artifact_bytes_per_caller=100, artifact_ttl=600)
    ann, bob = {HEADER: "ann"}, {HEADER: "bob"}
    first = await client.post("/contents", content=b"x" * 60, headers=ann)

    refused = await client.post("/contents", content=b"x" * 60, headers=ann)
    too_large = await client.post("/contents", content=b"x" * 101, headers=ann)
    others = await client.post("/contents", content=b"x" * 60, headers=bob)
    await client.delete(first.json()["url"], headers=ann)
    again = await client.post("/contents", content=b"x" * 60, headers=ann)

    assert [answer.status_code for answer in (first, refused, too_large, others, again)] == [201, 429, 413, 201, 201]
    assert refused.json()["type"] == "urn:sidecall:problem:too-many-contents"
    assert 500 < int(refused.headers["Retry-After"]) == refused.json()["retry_after"] <= 600
