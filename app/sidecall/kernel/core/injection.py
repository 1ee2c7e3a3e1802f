"""Markers for parameters that the caller or the server fills, never the model."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import MissingContext, SidecallError, ToolExecutionError, refuse_unconfigured
from sidecall.kernel.core.incremental_validation import validate
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.ports.sandbox import CommandSandbox, PythonSandbox, Sandbox
from sidecall.kernel.ports.secrets import SecretOwner
from sidecall.kernel.ports.store import Store


class InjectedToolArg:
    """Hide a parameter from the model; its value comes from the request's `context`."""


class InjectedToolCallId(InjectedToolArg):
    """Hide a parameter and fill it with the id of the call."""


class InjectedState(InjectedToolArg):
    """Hide a parameter and fill it with the caller's `state`, or with one field of it."""

    def __init__(self, field: str | None = None) -> None:
        """Inject the whole state, or the field of this name."""
        self.field = field
        # Where the marker is from; messages in the state become those of this library.
        self.home = type(self).__module__


class InjectedStore(InjectedToolArg):
    """Hide a parameter and fill it with the store."""

    def adapt(self, store: Store) -> Any:
        """Return the store in the form that the tool's parameter declares."""
        return store


class InjectedWorkspace(InjectedToolArg):
    """Hide a parameter and fill it with the files of the conversation; its type, `Workspace`, asks for the same."""

    def __init__(self, lasting: str | None = None) -> None:
        """Inject the files of the conversation, or lasting ones.

        Args:
            lasting: The name in `context` under which the calling program says whose files they are, such as a user's.
                They are kept until they are deleted. Where it says nothing they are those of the conversation.
        """
        self.lasting = lasting


class Secret(InjectedToolArg):
    """Hide a parameter and fill it with a secret: `Annotated[str, Secret("API_KEY")]`."""

    def __init__(self, name: str, of: SecretOwner = "either") -> None:
        """Inject the secret of this name.

        Args:
            name: Of the caller's secrets, or an environment variable, or a file in `SIDECALL_SECRETS_DIR`.
            of: Whose: the `caller`'s own, the `server`'s, or the caller's where there is one.
        """
        self.name = name
        self.of = of


class UserToken(InjectedToolArg):
    """Hide a parameter and fill it with a token of the caller's person: `Annotated[str, UserToken("github")]`."""

    def __init__(self, provider: str) -> None:
        """Inject the person's access token for this provider.

        A call without one waits until they have signed in there, unless the parameter has a default.

        Args:
            provider: One of those that the operator names in `SIDECALL_OAUTH`.
        """
        self.provider = provider


class FromCaller(InjectedToolArg):
    """Hide a parameter and fill it from `context` by its name, or else from `state`."""


ABSENT = object()

Source = Literal[
    "context", "call_id", "state", "store", "secret", "user_token", "workspace", "tool_context", "caller", "made"
]


def find_no_token(_provider: str) -> str | None:
    """Return None, where a tool is called without a server."""
    return None


@dataclass(frozen=True, slots=True)
class Supply:
    """What a call can inject besides its arguments.

    `tool_context` fills a ToolContext parameter; `secrets` finds a secret by name and owner, `tokens` a person's token
    by provider. `options` are the tool's.
    """

    call_id: str
    state: Any
    context: Mapping[str, Any]
    tool_context: ToolContext
    secrets: Callable[[str, SecretOwner], str | None]
    options: ToolOptions
    is_async: bool
    tokens: Callable[[str], str | None] = find_no_token
    workspace: Any = None


def leave_out(_: "Supply") -> Any:
    """Do nothing: the function has the value already, as a partial does."""
    return ABSENT


class FromFunction(InjectedToolArg):
    """Hide a parameter and fill it with a function's result for the call."""

    def __init__(self, make: Callable[[Supply], Any]) -> None:
        """Inject what this function returns."""
        self.make = make


@dataclass(frozen=True, slots=True)
class Injection:
    """How one hidden parameter is filled.

    `adapter` validates what the caller sent against the annotation; values made by the server need no check. `make`
    makes the value when there is no other source. `adapt_store` converts the store for the tool.
    """

    parameter: str
    source: Source
    field: str | None
    required: bool
    adapter: TypeAdapter[Any] | None
    make: Callable[[Supply], Any] | None = None
    of: SecretOwner = "either"
    adapt_store: Callable[[Store], Any] | None = None
    annotation: Any = None

    def fill(self, values: dict[str, Any], supply: Supply) -> None:
        """Add this parameter's value to `values`, or leave it out to use the function's default.

        Raises:
            MissingContext: The caller sent nothing for it and it has no default, or what it sent does not fit.
            ToolNotConfigured: A secret is not set.
            ToolExecutionError: A secret is of no use, or a validator of the author's crashed.
        """
        if self.source == "call_id":
            values[self.parameter] = supply.call_id
        elif self.source == "tool_context":
            values[self.parameter] = supply.tool_context
        elif self.source == "workspace":
            values[self.parameter] = supply.workspace
        elif self.source == "store":
            self._fill_store(values, supply.tool_context.store)
        elif self.source == "secret":
            self._fill_secret(values, supply)
        elif self.source == "user_token":
            self._fill_token(values, supply)
        elif self.make is not None:
            made = self.make(supply)
            values.update({} if made is ABSENT else {self.parameter: made})
        else:
            self._fill_from_caller(values, self._choose_given(supply), supply)

    @property
    def converts(self) -> bool:
        """Whether the value is made of what was sent, which takes long where that is large."""
        return self.adapter is not None or self.make is not None

    def hold(self, value: Any) -> "Injection":
        """Return an injection of a fixed value from the program, validated like a caller's."""
        return replace(self, source="caller", make=lambda supply: self._check(value, supply))

    def _fill_store(self, values: dict[str, Any], store: Store | None) -> None:
        if store is not None:
            values[self.parameter] = store if self.adapt_store is None else self.adapt_store(store)
        elif self.required:
            raise MissingContext(f"The tool needs a store for its parameter `{self.parameter}`, and there is none.")

    def _fill_secret(self, values: dict[str, Any], supply: Supply) -> None:
        secret = supply.secrets(self.field or "", self.of)
        if secret is None and self.required:
            context = supply.tool_context
            lack = f"The secret {self.field} is not set, {_NOWHERE[self.of]}."
            raise refuse_unconfigured(context.tool_name, context.tool_call_id, lack)
        if secret is not None:
            self._keep_secret(values, secret, supply, f"secret {self.field}")

    def _fill_token(self, values: dict[str, Any], supply: Supply) -> None:
        token = supply.tokens(self.field or "")
        if token is not None:
            self._keep_secret(values, token, supply, f"token of {self.field}")
        elif self.required:
            values[self.parameter] = ""  # The call waits before its tool sees it.

    def _keep_secret(self, values: dict[str, Any], secret: str, supply: Supply, what: str) -> None:
        try:
            values[self.parameter] = secret if self.adapter is None else self.adapter.validate_python(secret)
        except ValidationError as error:
            rule = error.errors(include_url=False, include_input=False)[0]["type"]
        except BaseException as error:  # A validator of the author's crashed.
            rule = type(error).__name__
        else:
            return
        # Outside the handler, since the error itself would show the secret in the log.
        raise _make_error(supply, f"The {what} is of no use: {rule}.")

    def _choose_given(self, supply: Supply) -> Any:
        if self.source == "caller":
            return supply.context if self.field in supply.context else supply.state
        return supply.state if self.source == "state" else supply.context

    def _fill_from_caller(self, values: dict[str, Any], given: Any, supply: Supply) -> None:
        if self.field is not None:
            given = given.get(self.field, ABSENT) if isinstance(given, Mapping) else ABSENT
        elif given is None:
            given = ABSENT
        if given is not ABSENT:
            values[self.parameter] = self._check(given, supply)
        elif self.required:
            raise MissingContext(
                f"The tool needs `{self.place}` beside the call, for its parameter `{self.parameter}`."
            )

    @property
    def place(self) -> str:
        """The path at which the caller sends the value, such as `state.user_id`."""
        source = "context" if self.source == "caller" else self.source
        return f"{source}.{self.field}" if self.field else source

    def _check(self, value: Any, supply: Supply) -> Any:
        if self.adapter is None:
            return value
        try:
            return validate(self.adapter, value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = format_path((self.place, *first["loc"]))
            raise MissingContext(f"The tool cannot use what was sent as `{where}`: {first['msg']}.") from None
        except BaseException as error:  # A validator of the author's crashed.
            context = supply.tool_context
            raise ToolExecutionError(context.tool_name, context.tool_call_id) from error


InjectedFrom = Literal["state", "context", "secret", "token", "store"]


class InjectedParameter(BaseModel, defer_build=True):
    """A parameter that no model fills."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, json_schema_serialization_defaults_required=True)

    name: str
    source: InjectedFrom = Field(
        alias="from",
        description="Where its value is from: `state` and `context` are sent beside the call, a `secret` is set by the "
        "operator or the caller, a `token` is had when a person signs in, and the `store` is the server's.",
    )
    path: str = Field(description="Where the value is put, or its name: `state.user.id`, `API_KEY`, `github`.")
    value_schema: dict[str, Any] = Field(
        alias="schema", description="JSON Schema of the value; `{}` where it cannot be said."
    )
    required: bool = Field(description="Whether the tool cannot run without it.")
    of: SecretOwner | None = Field(
        default=None, description="Whose secret it is: the caller's own, the server's, or `either`; null for the rest."
    )
    is_set: bool | None = Field(
        default=None,
        description="Whether there is such a secret or token for you; null for the rest, and where it cannot be told.",
    )

    def mark(self, own: Collection[str] | None, secrets: Callable[[str], str | None]) -> Self:
        """Return it with `is_set`, by the names of the caller's own secrets, None where they cannot be read."""
        if self.source != "secret":
            return self
        is_set: bool | None = self.of != "caller" and secrets(self.path) is not None
        if not is_set and self.of != "server":
            is_set = None if own is None else self.path in own
        return self.model_copy(update={"is_set": is_set})


_NOWHERE: Mapping[SecretOwner, str] = {
    "caller": "by this caller",
    "server": "neither as a variable nor as a file",
    "either": "neither by this caller nor as a variable nor as a file",
}


def find_commands(supply: Supply) -> CommandSandbox:
    """Return the server's sandbox for commands.

    Raises:
        ToolExecutionError: There is none, as where a tool is called without a server or runs in a process.
    """
    return _find_sandbox(supply)


def find_python(supply: Supply) -> PythonSandbox:
    """Return the server's sandbox for Python.

    Raises:
        ToolExecutionError: There is none.
    """
    return _find_sandbox(supply)


def _find_sandbox(supply: Supply) -> Sandbox:
    found = supply.tool_context.sandbox
    if found is None:
        raise _make_error(supply, "There is no sandbox where a tool is called without a server, or in a process.")
    return found


def _make_error(supply: Supply, reason: str) -> ToolExecutionError:
    context = supply.tool_context
    error = ToolExecutionError(context.tool_name, context.tool_call_id)
    error.__cause__ = SidecallError(reason)
    return error
