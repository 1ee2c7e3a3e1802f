"""What the feature reload adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE

FEATURE = Feature(
    name="reload",
    settings_off={"reload": False},
    routes=(Route("POST", "/reload", "sidecall.features.reload.routes:reload", OPERATE),),
    commands={"reload": "sidecall.features.reload.cli:reload"},
)
