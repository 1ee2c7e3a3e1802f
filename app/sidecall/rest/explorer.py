"""Serve the API explorer, without internet access."""

import base64
import hashlib
import re

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import Scope

from sidecall.http.application import SLASH
from sidecall.http.parameters import LateRoute

router = APIRouter(include_in_schema=False, route_class=LateRoute)

ASSETS = "/docs/assets"
# The validator would send the document's address to swagger.io.
_PARAMETERS = {"tryItOutEnabled": True, "validatorUrl": None, "displayRequestDuration": True}


_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Assets(StaticFiles):
    """Files of an installed package, served with `nosniff`."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with a file."""
        response = await super().get_response(path, scope)
        response.headers.update(_SAFE)
        return response


@router.get("/docs")
async def show_explorer(request: Request) -> Response:
    """Show Swagger UI; its addresses are relative, so that it works behind a path prefix."""
    return RedirectResponse("../docs", headers=_SAFE) if SLASH in request.scope else HTMLResponse(*_PAGE)


def _make_page() -> tuple[bytes, int, dict[str, str]]:
    """Make the page, its status, and headers that restrict it to its own scripts and server."""
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="Sidecall",
        swagger_js_url=f"{ASSETS[1:]}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS[1:]}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS[1:]}/favicon-32x32.png",
        swagger_ui_parameters=_PARAMETERS,
    )
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in _SCRIPT.findall(page.body))
    policy = (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return bytes(page.body), 200, {**_SAFE, "Content-Security-Policy": policy}


def _hash(script: bytes) -> str:
    return base64.b64encode(hashlib.sha256(script).digest()).decode()


_PAGE = _make_page()


@router.get("/")
async def go_to_explorer() -> Response:
    """Redirect the bare address to the explorer."""
    return RedirectResponse("docs", headers=_SAFE)


def install(app: FastAPI) -> None:
    """Add the page, and the assets of an installed package."""
    app.mount(ASSETS, Assets(packages=[("fastapi_swagger", "resources")]))
    app.router.routes.extend(router.routes)
