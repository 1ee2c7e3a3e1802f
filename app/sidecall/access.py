"""Who may call, as the settings have it."""

from sidecall.access_settings import AccessSettings
from sidecall.auth.access import Access
from sidecall.auth.api_keys import HEADER, ApiKeys, KeyRing
from sidecall.auth.caller_header import LOOPBACK, CallerHeader, GatewayHeaders, Gateways, NamedOrAnonymous
from sidecall.auth.key_file import KeyFile, KeysUnfit
from sidecall.auth.methods import Method, Methods
from sidecall.auth.middleware import Authenticator


def build_access(settings: AccessSettings) -> Access | None:
    """Make what knows callers; None where all are one caller, who may do everything.

    Raises:
        KeysUnfit: There is no file of keys where one was named, or it is none.
    """
    if settings.auth == ("none",):
        header = _build_header(settings, settings.gateways)
        return None if header is None else Access(NamedOrAnonymous(header), is_proved=False)
    return Access(_build_methods(settings), is_proved=True, hidden=_CREDENTIALS if "api_key" in settings.auth else ())


_CREDENTIALS = (b"authorization", HEADER)


def _build_methods(settings: AccessSettings) -> Authenticator:
    methods: list[Method] = []
    if "gateway" in settings.auth:
        header = _build_header(settings, settings.gateways or LOOPBACK)
        assert header is not None
        methods.append(header)
    if "api_key" in settings.auth:
        methods.append(ApiKeys(_open_ring(settings), is_alone=True))
    return Methods(methods)


def _build_header(settings: AccessSettings, gateways: tuple[str, ...]) -> CallerHeader | None:
    if settings.caller_header is None:
        return None
    names = GatewayHeaders(settings.caller_header, settings.tenant_header, settings.scopes_header)
    return CallerHeader(names, Gateways(gateways) if gateways else None)


def _open_ring(settings: AccessSettings) -> KeyRing:
    if "keys_file" in settings.model_fields_set and not settings.keys_file.exists():
        raise KeysUnfit(f"SIDECALL_KEYS_FILE is {settings.keys_file}, and there is no such file. {_MAKE}")
    return KeyRing(KeyFile(settings.keys_file))


_MAKE = "Make a key with `sidecall keys new NAME --file PATH`."
