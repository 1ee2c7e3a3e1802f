"""What the feature openapi_import adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="openapi_import",
    settings_off={"openapi": (), "openapi_services": None},
)
