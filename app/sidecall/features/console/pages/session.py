"""The pages about the reader: who it is, and the accounts and secrets that tools may use for them."""

from sidecall.features.console.sessions import read_token
from sidecall.features.console.visits import View, Visit
from sidecall.kernel.core.scopes import SERVER_SCOPES
from sidecall.version import __version__


async def show_session(visit: Visit) -> View:
    """Show the reader's name, tenant and scopes."""
    who = (await visit.get("/whoami")).data
    is_session = visit.has_sessions and read_token(visit.request.scope) is not None
    rights = [(scope, visit.reader.may(scope), text) for scope, text in SERVER_SCOPES.items()]
    rights += [(scope, True, "") for scope in who["scopes"] if scope not in SERVER_SCOPES and scope != "*"]
    values = {"toolset": who["toolset"], "rights": rights, "is_session": is_session, "version": __version__}
    return View("session.html", "Session", {**values, "known_by": _say_how(visit, is_session=is_session)})


async def show_accounts(visit: Visit) -> View:
    """List the reader's own connected accounts and secrets, without the secrets' values."""
    values = {
        "accounts": (await visit.get("/oauth/tokens")).data,
        "signs_in": visit.own_secrets.signing_in is not None,
        "secrets": (await visit.get("/secrets")).data,
        "may_keep": visit.own_secrets.takes_secrets,
        "wanted": visit.query.get("secret", ""),
    }
    return View("accounts.html", "Accounts and secrets", values)


def _say_how(visit: Visit, *, is_session: bool) -> str:
    if is_session:
        return "a session of this browser, which began with a key or token"
    if visit.request.app.state.access is None:
        return "nothing: SIDECALL_AUTH is none, so everybody who reaches this server may do everything"
    return "what comes with each request"
