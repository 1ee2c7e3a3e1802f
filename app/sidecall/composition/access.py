"""Build authentication and access from the settings."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sidecall.features.access.api_keys import ApiKeys, InvalidKeyFile, KeyFile, KeyRing
from sidecall.features.access.auth_methods import (
    LOOPBACK,
    CallerHeader,
    GatewayHeaders,
    Gateways,
    Method,
    Methods,
    NamedOrAnonymous,
)
from sidecall.features.audit.auditor import Auditor
from sidecall.features.toolsets.toolsets import (
    NO_TOOLSETS,
    AnonymousAuthenticator,
    ReadToolsets,
    ToolsetAuthenticator,
    Toolsets,
)
from sidecall.http.authentication import BEARER, KEY, Access, Authenticator, ProtectedResource
from sidecall.kernel.core.tool import CompiledTool
from sidecall.settings import Settings

logger = logging.getLogger("sidecall")


def build_access(
    settings: Settings,
    toolsets: Toolsets = NO_TOOLSETS,
    auditor: Auditor | None = None,
    more: Iterable[Callable[[Methods], Method]] = (),
    tokens: Method | None = None,
) -> Access | None:
    """Build the authenticator; None if all callers are one, with all scopes.

    Args:
        settings: How callers prove who they are.
        toolsets: What each is offered.
        auditor: Notes changes of keys.
        more: Makes methods of features.
        tokens: What takes tokens, where the settings ask for it.

    Raises:
        InvalidKeyFile: There is no file of keys where one was named, or it is none.
    """
    access = _build_access(settings, auditor, more, tokens)
    if toolsets is NO_TOOLSETS:
        return access
    access = access or Access(AnonymousAuthenticator(), is_proved=False)
    # A file without toolsets may have some later.
    return replace(access, authenticator=ToolsetAuthenticator(access.authenticator, toolsets), follow=toolsets.follow)


def open_toolsets(read: ReadToolsets | None, tools: Iterable[CompiledTool]) -> Toolsets:
    """Read the file of toolsets, if the settings name one, and warn of entries that match no tool.

    Raises:
        InvalidToolsets: It is none.
    """
    if read is None:
        return NO_TOOLSETS
    toolsets = read()
    for unmet in toolsets.find_unmet(map_tags(tools)):
        logger.warning("SIDECALL_TOOLSETS: %s", unmet)
    return toolsets


def map_tags(tools: Iterable[CompiledTool]) -> dict[str, Sequence[str]]:
    """Return the names of tools with their tags, by which toolsets select."""
    return {tool.name: tool.options.tags for tool in tools}


def warn_of_missing_keys(settings: Settings) -> None:
    """Warn that no caller can authenticate, if API keys are required and none is valid.

    Raises:
        InvalidKeyFile: The file of keys is none.
    """
    if "api_key" in settings.auth and not any(key.is_valid() for key in KeyFile(settings.keys_file).read()):
        logger.warning(
            "no key in %s is valid, so nobody can call with one: make one with `sidecall keys new NAME`, which is "
            "taken without a restart",
            settings.keys_file,
        )


def _build_access(
    settings: Settings,
    auditor: Auditor | None,
    more: Iterable[Callable[[Methods], Method]],
    tokens: Method | None,
) -> Access | None:
    if settings.auth == ("none",):
        header = _build_header(settings, settings.gateways)
        return None if header is None else Access(NamedOrAnonymous(header), is_proved=False)
    is_asked = not {"api_key", "jwt"}.isdisjoint(settings.auth)
    return Access(
        _build_methods(settings, auditor, more, tokens),
        is_proved=True,
        hidden=_CREDENTIALS if is_asked else (),
        resource=_describe(settings) if "jwt" in settings.auth else None,
        is_by_credential=set(settings.auth) <= {"api_key", "jwt"},
        proofs=settings.auth,
    )


_CREDENTIALS = (BEARER, KEY)


def _build_methods(
    settings: Settings,
    auditor: Auditor | None,
    more: Iterable[Callable[[Methods], Method]],
    tokens: Method | None,
) -> Authenticator:
    methods: list[Method] = []
    if "gateway" in settings.auth:
        header = _build_header(settings, settings.gateways or LOOPBACK)
        assert header is not None
        methods.append(header)
    if "api_key" in settings.auth:
        methods.append(ApiKeys(_open_ring(settings, auditor), is_alone="jwt" not in settings.auth))
    if tokens is not None:
        methods.append(tokens)
    first = Methods(tuple(methods))
    return Methods((*methods, *(make(first) for make in more)))


def _describe(settings: Settings) -> ProtectedResource:
    assert settings.jwt_issuer is not None
    return ProtectedResource(settings.jwt_issuer, settings.jwt_audience)


def _build_header(settings: Settings, gateways: tuple[str, ...]) -> CallerHeader | None:
    if settings.caller_header is None:
        return None
    names = GatewayHeaders(settings.caller_header, settings.tenant_header, settings.scopes_header)
    return CallerHeader(names, Gateways(gateways) if gateways else None)


def _open_ring(settings: Settings, auditor: Auditor | None) -> KeyRing:
    if "keys_file" in settings.model_fields_set and not settings.keys_file.exists():
        raise InvalidKeyFile(f"SIDECALL_KEYS_FILE is {settings.keys_file}, and there is no such file. {_MAKE}")
    return KeyRing(KeyFile(settings.keys_file), note=None if auditor is None else auditor.note_keys)


_MAKE = "Make a key with `sidecall keys new NAME --file PATH`."
