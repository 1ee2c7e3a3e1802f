"""The explorer at /docs works without the internet, and the root leads to it."""

import re
from urllib.parse import urljoin, urlsplit

import pytest

from sidecall.version import __version__
from tests.kit.clients import MakeClient

_ASSET = re.compile(r"""(?:src|href)\s*=\s*["']([^"']+)["']""")


async def test_the_explorer_has_only_assets_of_its_own_origin(make_client: MakeClient) -> None:
    """A machine without the internet can use it."""
    client = await make_client()

    page = await client.get("/docs")
    hosts = {urlsplit(urljoin("http://sidecall/docs", url)).netloc for url in _ASSET.findall(page.text)}

    assert page.status_code == 200
    assert hosts == {"sidecall"}
    assert re.findall(r"https?://[^\"'\s]+", page.text) == []


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/docs/assets/swagger-ui.css", "text/css"),
        ("/docs/assets/swagger-ui-bundle.js", "javascript"),
        ("/docs/assets/favicon-32x32.png", "image/png"),
        ("/openapi.json", "application/json"),
    ],
)
async def test_every_asset_of_the_explorer_is_there(make_client: MakeClient, path: str, media_type: str) -> None:
    """Each answers 200, with a type that a browser takes it for, and is named without the server's address."""
    client = await make_client()

    page = await client.get("/docs")
    asset = await client.get(path)

    assert re.findall(rf"""["']([^"']*{path.removeprefix("/")})["']""", page.text) == [path.removeprefix("/")]
    assert asset.status_code == 200
    assert media_type in asset.headers["Content-Type"]
    assert len(asset.content) > 100


async def test_the_explorer_names_no_other_asset(make_client: MakeClient) -> None:
    """The table above is whole."""
    client = await make_client()

    page = await client.get("/docs")

    assert set(_ASSET.findall(page.text)) == {
        "docs/assets/swagger-ui.css",
        "docs/assets/swagger-ui-bundle.js",
        "docs/assets/favicon-32x32.png",
    }


async def test_an_address_with_a_slash_leads_to_the_explorer(make_client: MakeClient) -> None:
    """Its relative addresses would lead astray there."""
    client = await make_client()

    response = await client.get("/docs/", follow_redirects=True)

    assert response.status_code == 200
    assert response.url.path == "/docs"


@pytest.mark.parametrize("path", ["/docs/assets/nothing.js", "/docs/assets/%2e%2e/main.py", "/docs/assets/"])
async def test_an_asset_that_is_not_there_is_a_problem(make_client: MakeClient, path: str) -> None:
    """The folder of assets leads nowhere else."""
    client = await make_client()

    response = await client.get(path)

    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"


async def test_the_explorer_asks_nobody_to_validate(make_client: MakeClient) -> None:
    """Swagger UI sends the document to a validator on the internet unless it is told not to."""
    client = await make_client()

    page = (await client.get("/docs")).text

    assert '"validatorUrl": null' in page
    assert '"tryItOutEnabled": true' in page


async def test_the_document_says_who_answers(make_client: MakeClient) -> None:
    """Title, version and license are those of the product."""
    client = await make_client()

    document = (await client.get("/openapi.json")).json()

    assert document["info"]["title"] == "Sidecall"
    assert document["info"]["version"] == __version__
    assert document["info"]["license"] == {"name": "MIT", "identifier": "MIT"}
    assert [tag["name"] for tag in document["tags"]] == [
        "tools",
        "callers",
        "tool calls",
        "contents",
        "conversations",
        "workspaces",
        "file search",
        "approvals",
        "operations",
    ]


@pytest.mark.parametrize("path", ["/redoc", "/docs/oauth2-redirect"])
async def test_the_other_explorers_of_the_framework_are_off(make_client: MakeClient, path: str) -> None:
    """They would load their scripts from the internet."""
    client = await make_client()

    response = await client.get(path)

    assert response.status_code == 404
