"""What the feature credentials adds to a server."""

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.credentials.steps import make_credential_stages
from sidecall.kernel.core.scopes import CALL


def build(host: Host) -> Built:
    """Make the steps that give tools secrets and tokens, and keep these out of answers."""
    return Built(stages=make_credential_stages(host.ledger.approvals))


FEATURE = Feature(
    name="credentials",
    needs=("access", "approvals"),
    parameters=frozenset({"secret", "user_token"}),
    can_be_off=False,
    forms=("sidecall.features.credentials.secret_routes:SecretValue",),
    routes=(
        Route("GET", "/secrets", "sidecall.features.credentials.secret_routes:list_secrets", CALL),
        Route("PUT", "/secrets/{name}", "sidecall.features.credentials.secret_routes:put_secret", CALL),
        Route("DELETE", "/secrets/{name}", "sidecall.features.credentials.secret_routes:delete_secret", CALL),
        Route("GET", "/oauth/tokens", "sidecall.features.credentials.token_routes:list_user_tokens", CALL),
        Route(
            "DELETE", "/oauth/tokens/{provider}", "sidecall.features.credentials.token_routes:delete_user_token", CALL
        ),
        Route("GET", "/oauth/start", "sidecall.features.credentials.sign_in_routes:show_sign_in", is_checked=False),
        Route("POST", "/oauth/start", "sidecall.features.credentials.sign_in_routes:begin_sign_in", is_checked=False),
        Route("GET", "/oauth/callback", "sidecall.features.credentials.sign_in_routes:end_sign_in", is_checked=False),
    ),
    asked=lambda settings: bool(settings.secrets_keys) or settings.oauth is not None,
    extra="sidecall[secrets]",
    part="sidecall.features.credentials.sealed_keeper:make_opener",
    build=build,
)
