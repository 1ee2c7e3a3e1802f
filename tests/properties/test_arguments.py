"""What a tool advertises is what it takes, for any signature, any types and any arguments."""

import json
from typing import Any, Optional

import jsonschema_rs
from hypothesis import assume, given, note
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.properties.json_values import allowed_by
from tests.properties.kinds import MARK, MARKED_INTEGER
from tests.properties.runs import examples
from tests.properties.signatures import Made, Parameter, Program, arguments, programs, running


def _fits(made: Made, parameter: Parameter, sent: dict[str, Any]) -> bool:
    """Judge whether the function got for a parameter what its annotation promises."""
    value = made.calls[-1][parameter.name]
    if parameter.place == "*args":
        return type(value) is tuple and all(map(parameter.kind.fits, value))
    if parameter.place == "**kwargs":
        return type(value) is dict and all(map(parameter.kind.fits, value.values()))
    if parameter.key in sent:
        return parameter.kind.fits(value) or (value is None and parameter.default == "None")
    return bool(value == eval(parameter.default or "missing", made.module))


def _unknown(program: Program, sent: dict[str, Any]) -> list[str]:
    takes_any = any(it.place == "**kwargs" for it in program.parameters)
    return [] if takes_any else [name for name in sent if name not in {it.key for it in program.parameters}]


def _invalid_arguments(made: Made, program: Program, sent: dict[str, Any]) -> list[str]:
    return [it.name for it in program.parameters if not _fits(made, it, sent)]


def _meant(made: Made, program: Program, sent: dict[str, Any]) -> dict[str, Any]:
    """Read what was sent for each parameter as pydantic reads JSON by its annotation alone."""
    meant: dict[str, Any] = {}
    for it in (it for it in program.parameters if it.place in ("/", "", "*") and it.key in sent):
        annotation = eval(it.kind.source or "Any", made.module)
        annotation = Optional[annotation] if it.default == "None" else annotation  # noqa: UP045
        meant[it.name] = TypeAdapter(annotation).validate_json(json.dumps(sent[it.key]))
    return meant


@given(program=programs(), policy=st.sampled_from(["ignore", "forbid"]), data=st.data())
@examples(90)
def test_what_the_schema_allows_reaches_the_function(program: Program, policy: str, data: st.DataObject) -> None:
    """Arguments drawn from the advertised schema are taken, and arrive as the annotated types."""
    assume(all(it.kind.exact for it in program.parameters))
    note(program.source)
    with running(program, unknown_args=policy) as made:
        sent = data.draw(allowed_by(made.schema))
        assume(str(sent).count("'unknown ") <= 20)  # Anyone who sends more of them is told so.
        message = made.call(sent)

        assert (message.status, message.content) == ("success", "done"), message.content
        ignored = message.response_metadata["ignored_args"]
        # Beside what no parameter takes, what no model inside one takes, which has a path.
        assert [name for name in ignored if name in sent] == _unknown(program, sent)
        assert _invalid_arguments(made, program, sent) == []


@given(program=programs(), data=st.data())
@examples(80)
def test_what_the_types_take_is_allowed_and_means_what_they_say(program: Program, data: st.DataObject) -> None:
    """The schema allows the plain JSON form of every value, and the function gets what pydantic makes of it."""
    note(program.source)
    with running(program) as made:
        sent = data.draw(arguments(program))
        errors = [error.message for error in jsonschema_rs.iter_errors(made.schema, sent)]
        message = made.call(sent)

        assert (errors, message.status, message.content) == ([], "success", "done"), message.content
        assert message.response_metadata["ignored_args"] == []
        assert message.response_metadata["repaired"] == []
        assert _invalid_arguments(made, program, sent) == []
        assert {name: made.calls[-1][name] for name in _meant(made, program, sent)} == _meant(made, program, sent)


@given(program=programs().filter(lambda program: any(not it.bad.is_empty for it in program.parameters)), data=st.data())
@examples(80)
def test_what_a_type_refuses_is_refused_without_a_word_of_it(program: Program, data: st.DataObject) -> None:
    """The function is not called, the model learns why, and what was sent is not repeated."""
    note(program.source)
    with running(program) as made:
        spoiled = data.draw(st.sampled_from([it for it in program.parameters if not it.bad.is_empty]))
        sent = data.draw(arguments(program, spoiled))
        message = made.call(sent)
        error = message.response_metadata.get("error", {})

        assert (message.status, error.get("kind"), made.calls) == ("error", "invalid_arguments", [])
        assert MARK not in f"{message.content} {error}"
        assert str(MARKED_INTEGER) not in f"{message.content} {error}"


@given(program=programs().filter(lambda program: any(it.is_required for it in program.parameters)), data=st.data())
@examples(40)
def test_a_call_without_a_required_argument_is_refused(program: Program, data: st.DataObject) -> None:
    """The model learns which one is missing, by the name that it knows."""
    note(program.source)
    with running(program) as made:
        left_out = data.draw(st.sampled_from([it.key for it in program.parameters if it.is_required]))
        sent = {key: value for key, value in data.draw(arguments(program)).items() if key != left_out}
        message = made.call(sent)

        assert (message.status, made.calls) == ("error", [])
        assert [entry["loc"] for entry in message.response_metadata["error"]["errors"]] == [[left_out]]
