"""What stands for routes until they are needed says of them what they are."""

from collections.abc import Iterator
from importlib import import_module

import pytest
from fastapi.routing import APIRoute

from sidecall.composition.features import load_features
from sidecall.http.parameters import LateRoute, NamedRoute
from sidecall.rest import explorer
from sidecall.rest.app import make_routes
from sidecall.rest.route_table import Route
from tests.kit.sources import MODULES

ROUTES = [route for feature in load_features(use_entry_points=False) for route in feature.routes]


def _list_tables() -> dict[str, list[Route]]:
    tables: dict[str, list[Route]] = {}
    for route in ROUTES:
        tables.setdefault(route.endpoint.partition(":")[0], []).append(route)
    return tables


TABLE = _list_tables()


def _list_routes(module: str) -> Iterator[APIRoute]:
    for route in import_module(module).router.routes:
        assert isinstance(route, APIRoute)
        yield route


@pytest.mark.parametrize("module", TABLE)
def test_the_table_names_every_route_of_a_module_in_its_order(module: str) -> None:
    """A route that is not in it would not be served."""
    served = [(method, route.path, route.name) for route in _list_routes(module) for method in route.methods]

    assert served == [(route.method, route.path, route.endpoint.partition(":")[2]) for route in TABLE[module]]


def test_the_table_names_every_module_with_routes() -> None:
    """None is forgotten."""
    asking = [name for name, path in MODULES.items() if "fastapi" in path.read_text() and name.startswith("sidecall.")]
    found = {name for name in asking if hasattr(import_module(name), "router")}

    assert found - {explorer.__name__} == TABLE.keys()


def test_every_route_is_built_when_it_is_needed() -> None:
    """Not before, when most servers need few of them."""
    made = [route for module in TABLE for route in _list_routes(module)]
    made += [route for route in explorer.router.routes if isinstance(route, APIRoute)]

    assert {route.path for route in made if not isinstance(route, LateRoute)} == set()


def test_a_route_of_the_table_becomes_the_one_that_it_stands_for() -> None:
    """With all that it is."""
    named = next(route for route in make_routes(ROUTES) if route.name == "get_approval")
    before = (named.path, named.name, named.methods, "endpoint" in vars(named))

    (there,) = (route for route in _list_routes("sidecall.features.approvals.routes") if route.name == "get_approval")
    assert isinstance(named, NamedRoute)
    assert before == ("/approvals/{approval_id}", "get_approval", {"GET"}, False)
    assert (named.endpoint, named.summary, named.operation_id) == (there.endpoint, there.summary, "get_approval")
    assert named.path_regex == there.path_regex
