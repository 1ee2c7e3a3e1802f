"""What the feature openapi_import adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature
from sidecall.kernel.core.options import DocumentApproval
from sidecall.kernel.variables import Texts


class OpenAPIFields(BaseSettings, defer_build=True):
    """Which OpenAPI documents are offered as tools."""

    openapi: Texts = Field(
        default=(),
        description="OpenAPI documents whose operations are offered as tools: paths and addresses, separated by "
        "commas; `name=` before one stands before its tools' names.",
    )
    openapi_approval: DocumentApproval = Field(
        default="never",
        description="Whether a person approves calls of those tools: `never`, `always`, or `writing`: all but GET and "
        "HEAD.",
    )
    openapi_services: str | None = Field(
        default=None,
        description="Services of which more is said, such as credentials and filters: the path of a file in JSON or "
        "YAML, or its text in JSON.",
    )


FEATURE = Feature(
    name="openapi_import",
    settings_off={"openapi": (), "openapi_services": None},
)
