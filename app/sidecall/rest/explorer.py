"""Serve the page that explains and tries the API, without internet."""

from fastapi import APIRouter, FastAPI, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

router = APIRouter(include_in_schema=False)

ASSETS = "/docs/assets"
# The validator would send the document's address to swagger.io.
_PARAMETERS = {"tryItOutEnabled": True, "validatorUrl": None, "displayRequestDuration": True}


@router.get("/docs")
async def show_explorer() -> Response:
    """Show Swagger UI; its addresses are relative, so that it works behind a prefix."""
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="Sidecall",
        swagger_js_url=f"{ASSETS[1:]}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS[1:]}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS[1:]}/favicon-32x32.png",
        swagger_ui_parameters=_PARAMETERS,
    )
    page.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
    return page


@router.get("/")
async def go_to_explorer() -> Response:
    """Lead whoever opens the bare address to the page."""
    return RedirectResponse("docs")


def install(app: FastAPI) -> None:
    """Add the page, and the assets of an installed package."""
    app.mount(ASSETS, StaticFiles(packages=[("fastapi_swagger", "resources")]))
    app.router.routes.extend(router.routes)
