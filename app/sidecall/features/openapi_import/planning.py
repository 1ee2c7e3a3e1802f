"""Plan how arguments become a request: the tool's schema, and the place of each argument."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, Literal

from sidecall.features.openapi_import.bodies import (
    BodyPlan,
    Member,
    choose_media_type,
    describe_file,
    find_members,
    is_file,
    read_encoding,
)
from sidecall.features.openapi_import.definitions import Definitions, Place, Unusable
from sidecall.features.openapi_import.operations import ApiOperation
from sidecall.kernel.core.errors import InvalidToolOption, MissingContext
from sidecall.kernel.core.injection import FromFunction, InjectedToolArg, Supply
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.drafts import is_nothing

_ANY = "*"  # Where no scheme is named.


@dataclass(frozen=True, slots=True)
class ForwardedHeader:
    """Take a credential from a header of the request in which a call came: `ForwardedHeader("X-Pets-Token")`."""

    name: str

    def read(self, supply: Supply) -> str:
        """Return the value of the header.

        Raises:
            MissingContext: The request had no such header.
        """
        value: str | None = supply.tool_context.headers.get(self.name)
        if not value:
            raise MissingContext(f"The tool needs the header `{self.name}` of the request, to hand it on.")
        return value


# All markers of hidden text parameters qualify: `Secret` and those like it.
Credential = InjectedToolArg | ForwardedHeader

Auth = Credential | Mapping[str, Credential] | None


@dataclass(frozen=True, slots=True)
class CredentialPlace:
    """Where a request carries a credential, and in which form."""

    credential: Credential
    where: Literal["header", "query", "cookie"]
    name: str
    form: Literal["plain", "bearer", "basic"] = "plain"

    @property
    def marker(self) -> InjectedToolArg:
        """The marker of the hidden parameter that carries it."""
        given = self.credential
        return FromFunction(given.read) if isinstance(given, ForwardedHeader) else given

    def write(self, value: str) -> str:
        """Return the credential as it is sent."""
        if self.form == "basic":
            return f"Basic {base64.b64encode(value.encode()).decode() if ':' in value else value}"
        return f"Bearer {value}" if self.form == "bearer" else value


def choose_credentials(auth: Auth, said: Any, schemes: Mapping[str, Any]) -> tuple[CredentialPlace, ...]:
    """Choose the credentials of an operation: the first of its alternatives that is complete.

    Args:
        auth: One credential for all schemes, or a mapping by scheme name.
        said: The operation's `security`, or the document's.
        schemes: The document's schemes, by name.
    """
    if auth is None:
        return ()
    known: Mapping[str, Credential] = auth if isinstance(auth, Mapping) else {_ANY: auth}
    if not isinstance(said, list) or not said:
        single = known.get(_ANY)
        # A document with schemes, or an empty list, means that this operation needs no credentials.
        is_open = isinstance(said, list) or bool(schemes)
        return () if single is None or is_open else (CredentialPlace(single, "header", "Authorization", "bearer"),)
    for alternative in said:
        found = [(known.get(name, known.get(_ANY)), schemes.get(name)) for name in alternative or ()]
        places = [_place(credential, scheme) for credential, scheme in found if credential is not None]
        if len(places) == len(found) and (places or len(said) == 1):
            return tuple(place for place in places if place is not None)
    return ()


def _place(credential: Credential, scheme: Any) -> CredentialPlace | None:
    kind = scheme.get("type") if isinstance(scheme, dict) else None
    if kind == "apiKey" and scheme.get("in") in ("header", "query", "cookie"):
        return CredentialPlace(credential, scheme["in"], str(scheme.get("name")))
    if kind == "mutualTLS":
        return None
    is_basic = kind == "http" and str(scheme.get("scheme")).lower() == "basic"
    return CredentialPlace(credential, "header", "Authorization", "basic" if is_basic else "bearer")


def refuse_unknown_schemes(where: str, auth: Auth, schemes: Mapping[str, Any]) -> None:
    """Require the document to have the schemes of these credentials.

    Raises:
        InvalidToolOption: It lacks one.
    """
    unknown = sorted(auth.keys() - schemes.keys()) if isinstance(auth, Mapping) else []
    if unknown:
        known = ", ".join(schemes) or "none"
        raise InvalidToolOption(f"{where} has no security scheme {unknown[0]!r} for `auth`; those of it are: {known}.")


def check_auth(auth: Any) -> Auth:
    """Validate credentials.

    Raises:
        InvalidToolOption: They have another type.
    """
    each = list(auth.values()) if isinstance(auth, Mapping) else [] if auth is None else [auth]
    for credential in each:
        if not isinstance(credential, InjectedToolArg | ForwardedHeader):
            raise InvalidToolOption(
                f"auth is a Secret, a ForwardedHeader, or several by the names of the document's security schemes, "
                f"not {type(credential).__name__}. A secret's text does not belong into the code."
            )
    checked: Auth = auth
    return checked


_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")

_MOST_OF_NAME = 64

_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
# Headers that the client writes itself, or that identify the caller.
_NOT_ARGUMENTS = frozenset(
    "accept authorization connection content-length content-type cookie host transfer-encoding".split()
)

_TEMPLATE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """How the request of an operation is made."""

    method: str
    url: str
    places: Sequence[Place]
    body: BodyPlan | None
    credentials: Sequence[CredentialPlace]
    headers: Mapping[str, str]


class ArgumentPlan:
    """The arguments of a tool, each under a unique name."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._properties: dict[str, Schema] = {}
        self._required: list[str] = []
        self._used: set[str] = set()

    def add(self, name: str, where: str, schema: Any, text: Any, *, required: bool) -> str:
        """Add an argument, and return its name.

        Raises:
            Unusable: A reference of its schema is broken.
        """
        return self.put(name, where, self.definitions.convert(schema, self._used), text, required=required)

    def put(self, name: str, where: str, schema: Schema, text: Any, *, required: bool) -> str:
        """Add an argument with a schema that is converted already."""
        if isinstance(text, str) and text.strip():
            schema = {**schema, "description": text.strip()}
        argument = self._choose_name(name, where)
        self._properties[argument] = schema
        if required:
            self._required.append(argument)
        return argument

    def write(self) -> Schema:
        """Write the schema of all of them."""
        schema: Schema = {"type": "object", "properties": self._properties}
        if self._required:
            schema["required"] = self._required
        definitions = self.definitions.close_over(self._used)
        return {**schema, "$defs": definitions} if definitions else schema

    def _choose_name(self, name: str, where: str) -> str:
        wanted = (_UNFIT.sub("_", name).strip("_") or where)[:_MOST_OF_NAME]
        if wanted not in self._properties:
            return wanted
        placed = f"{wanted[: _MOST_OF_NAME - len(where) - 1]}_{where}"
        more = (f"{wanted[: _MOST_OF_NAME - 8]}_{number}" for number in count(2))
        return next(it for it in chain((placed,), more) if it not in self._properties)


def plan_parameters(operation: ApiOperation, sheet: ArgumentPlan) -> list[Place]:
    """Add the parameters of an operation, and return their places.

    Raises:
        Unusable: One cannot be sent, or the path has a part without one.
    """
    places = []
    for parameter in operation.list_parameters(sheet.definitions):
        name, where = parameter["name"], parameter.get("in")
        if where == "header" and name.lower() in _NOT_ARGUMENTS:
            continue
        if where not in _STYLES:
            raise Unusable(f"its parameter {name!r} stands in {where!r}")
        content = parameter.get("content")
        said: dict[str, Any] = next(iter(content.values())) if content else parameter
        required = where == "path" or parameter.get("required") is True
        argument = sheet.add(name, where, said.get("schema", {}), parameter.get("description"), required=required)
        style = str(parameter.get("style") or _STYLES[where])
        explode = parameter.get("explode")
        explodes = explode if isinstance(explode, bool) else style in ("form", "deepObject")
        is_json = bool(content)
        places.append(Place(argument, name, where, style, explodes, parameter.get("allowReserved") is True, is_json))
    named = {place.name for place in places if place.where == "path"}
    lost = [name for name in _TEMPLATE.findall(operation.path) if name not in named]
    if lost:
        raise Unusable(f"its path has {{{lost[0]}}}, and there is no such parameter")
    return places


def plan_body(operation: ApiOperation, sheet: ArgumentPlan) -> BodyPlan | None:
    """Add the parameters of an operation's body, and return its plan; None without a body.

    Raises:
        Unusable: The body cannot be sent.
    """
    said = sheet.definitions.resolve(operation.said.get("requestBody"))
    if not isinstance(said, dict) or not isinstance(said.get("content"), dict) or not said["content"]:
        return None
    media_type, kind = choose_media_type(said["content"])
    written = said["content"].get(media_type) or next(iter(said["content"].values())) or {}
    schema, required = written.get("schema", {}), said.get("required") is True
    members = find_members(schema, sheet.definitions) if kind in ("json", "form", "parts") else None
    if members is None:
        if kind in ("parts", "form"):
            raise Unusable("its body is a form, and does not say of which members")
        text = said.get("description")
        if kind == "bytes":
            whole = sheet.put("body", "body", describe_file({"description": text or ""}), None, required=required)
        else:
            whole = sheet.add("body", "body", schema, text, required=required)
        return BodyPlan(kind, media_type, required, whole)
    return _plan_members(sheet, members, BodyPlan(kind, media_type, required), written.get("encoding") or {})


def _plan_members(
    sheet: ArgumentPlan, members: tuple[dict[str, Any], list[str]], plan: BodyPlan, encoding: Mapping[str, Any]
) -> BodyPlan:
    properties, required = members
    written = []
    for name, inner in properties.items():
        if _is_read_only(inner, sheet.definitions) or is_nothing(inner):
            continue
        said = read_encoding(encoding.get(name), sheet.definitions, in_parts=plan.kind == "parts")
        wanted = plan.is_required and name in required
        holds_file = plan.kind == "parts" and is_file(inner, said, sheet.definitions)
        if holds_file:
            node = sheet.definitions.resolve(inner)
            argument = sheet.put(name, "body", describe_file(node), None, required=wanted)
        else:
            argument = sheet.add(name, "body", inner, None, required=wanted)
        is_json = not said.is_styled and (said.is_json or _is_object(inner, sheet.definitions))
        place = Place(argument, name, "body", said.style, said.explodes, said.allows_reserved, is_json)
        written.append(Member(place, said, holds_file))
    return BodyPlan(plan.kind, plan.media_type, plan.is_required, members=written)


def _is_read_only(schema: Any, definitions: Definitions) -> bool:
    node = definitions.resolve(schema)
    return isinstance(node, dict) and node.get("readOnly") is True


def _is_object(schema: Any, definitions: Definitions) -> bool:
    node = definitions.resolve(schema)
    return isinstance(node, dict) and (node.get("type") == "object" or "properties" in node)
