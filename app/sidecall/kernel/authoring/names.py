"""Aliases of our types under other libraries' names."""

from typing import Any

from pydantic import BaseModel

from sidecall.kernel.ports.tenant_store import Store

# What an `args_schema` may be: a model, or a JSON Schema.
ArgsSchema = type[BaseModel] | dict[str, Any]
# What `Annotated[BaseStore, InjectedStore]` is filled with.
BaseStore = Store
