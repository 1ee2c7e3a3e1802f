"""A real service with an OpenAPI document, in this process: it says what came to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Cookie, Depends, FastAPI, File, Form, Header, HTTPException, Query, Request, Response, UploadFile
from fastapi.responses import PlainTextResponse, RedirectResponse
from fastapi.security import APIKeyHeader, APIKeyQuery, HTTPBasic, HTTPBearer
from pydantic import BaseModel

from tests.kit.serving import serving_app

app = FastAPI(title="Pets")
PIXEL = b"\x89PNG\r\n\x1a\n"


class Pet(BaseModel):
    """A pet, which may have young."""

    name: str
    age: int = 1
    young: list["Pet"] = []


@app.get("/pets/{pet_id}", operation_id="pets/get", tags=["pets"])
def get_pet(
    pet_id: str,
    colours: Annotated[list[str] | None, Query()] = None,
    limit: int = 10,
    x_trace: Annotated[str | None, Header()] = None,
    visit: Annotated[str | None, Cookie()] = None,
) -> dict[str, Any]:
    """Get a pet."""
    return {"pet_id": pet_id, "colours": colours, "limit": limit, "trace": x_trace, "visit": visit}


@app.put("/pets/{name}", operation_id="pets/put", tags=["pets"])
def put_pet(name: str, pet: Pet) -> dict[str, Any]:
    """Put a pet in the place of another."""
    return {"path": name, "body": pet.model_dump()}


@app.post("/forms", operation_id="send_form")
def send_form(name: Annotated[str, Form()], kinds: Annotated[list[str], Form()]) -> dict[str, Any]:
    """Send a form."""
    return {"name": name, "kinds": kinds}


@app.post("/photos", operation_id="send_photo")
async def send_photo(title: Annotated[str, Form()], photo: Annotated[UploadFile, File()]) -> dict[str, Any]:
    """Send a photo."""
    body = await photo.read()
    return {"title": title, "size": len(body), "text": body.decode("latin-1"), "type": photo.content_type}


@app.delete("/pets/{pet_id}", operation_id="pets/delete", status_code=204)
def delete_pet(pet_id: str) -> None:
    """Delete a pet."""


@app.get("/fail/{status}", operation_id="fail")
def fail(status: int) -> None:
    """Fail with a status."""
    raise HTTPException(status, detail="no such luck", headers={"Retry-After": "7"})


@app.get("/photo", operation_id="get_photo", response_class=Response)
def get_photo() -> Response:
    """Show a photo."""
    return Response(PIXEL, media_type="image/png")


@app.get("/archive", operation_id="get_archive", response_class=Response)
def get_archive() -> Response:
    """Return a file."""
    return Response(b"PK", media_type="application/zip")


@app.get("/text", operation_id="get_text", response_class=PlainTextResponse)
def get_text() -> str:
    """Return a text."""
    return "plain words"


@app.get("/old", operation_id="get_old", response_class=RedirectResponse)
def get_old() -> RedirectResponse:
    """Lead to the text."""
    return RedirectResponse("/text")


@app.get("/away", operation_id="get_away", response_class=RedirectResponse)
def get_away() -> RedirectResponse:
    """Lead elsewhere."""
    return RedirectResponse("http://elsewhere.example/text")


@app.get("/bearer", operation_id="with_bearer", dependencies=[Depends(HTTPBearer(auto_error=False))])
@app.get("/basic", operation_id="with_basic", dependencies=[Depends(HTTPBasic(auto_error=False))])
@app.get("/key", operation_id="with_key", dependencies=[Depends(APIKeyHeader(name="X-Key", auto_error=False))])
@app.get("/query", operation_id="with_query", dependencies=[Depends(APIKeyQuery(name="key", auto_error=False))])
def prove(request: Request) -> dict[str, str | None]:
    """Say what proves who asks."""
    headers = request.headers
    return {
        "authorization": headers.get("authorization"),
        "key": headers.get("x-key"),
        "query": request.url.query or None,
    }


@app.api_route("/echo{rest:path}", methods=["GET", "POST", "PATCH"], include_in_schema=False)
async def echo(request: Request) -> dict[str, Any]:
    """Say what came, as it was written."""
    return {
        "path": request.scope["raw_path"].decode(),
        "query": request.scope["query_string"].decode(),
        "headers": {name: value for name, value in request.headers.items() if name.startswith(("x-", "content-type"))},
        "cookie": request.headers.get("cookie"),
        "body": (await request.body()).decode(),
    }


@contextmanager
def serving() -> Iterator[str]:
    """Serve it on a free port while the body runs, and give its address."""
    with serving_app(lambda _: app) as url:
        yield url
