"""The page of what tools have of their reader: accounts in which they act, and secrets."""

from sidecall.features.console.visits import View, Visit


async def show_accounts(visit: Visit) -> View:
    """List the reader's own accounts and secrets; values are shown to nobody."""
    values = {
        "accounts": (await visit.get("/oauth/tokens")).data,
        "signs_in": visit.request.app.state.parts.secrets.signing_in is not None,
        "secrets": (await visit.get("/secrets")).data,
        "may_keep": visit.request.app.state.parts.secrets.takes_secrets,
        "wanted": visit.query.get("secret", ""),
    }
    return View("accounts.html", "Accounts and secrets", values)
