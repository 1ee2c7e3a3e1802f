"""What the feature access adds to a server."""

from sidecall.feature import Feature, Route

FEATURE = Feature(
    name="access",
    needs=("audit",),
    options=frozenset({"scopes"}),
    can_be_off=False,
    asked=lambda settings: "jwt" in settings.auth,
    extra="sidecall[jwt]",
    part="sidecall.features.access.tokens:make_tokens",
    routes=(
        Route("GET", "/whoami", "sidecall.features.access.routes:get_identity"),
        Route(
            "GET",
            "/.well-known/oauth-protected-resource",
            "sidecall.features.access.routes:get_resource_metadata",
            is_checked=False,
        ),
        Route(
            "GET",
            "/.well-known/oauth-protected-resource/{path:path}",
            "sidecall.features.access.routes:get_metadata_below",
            is_checked=False,
        ),
    ),
    commands={"keys": "sidecall.features.access.cli:keys"},
)
