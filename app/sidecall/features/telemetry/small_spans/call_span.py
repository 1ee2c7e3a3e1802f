"""A span of a call that stays small as long as it has no more than every call's span."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time_ns
from typing import Any

from opentelemetry.sdk.trace import Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from sidecall.features.telemetry.small_spans.otlp import (
    FLAGS_ELSEWHERE,
    FLAGS_HERE,
    STATUS_ERROR,
    STATUS_UNSET,
    TextAttribute,
    write_common,
    write_parent,
    write_span,
)

# Names of the conventions, which are in development; the package that has them calls its names for them deprecated.
OPERATION = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_TYPE = "gen_ai.tool.type"
CALL_ID = "gen_ai.tool.call.id"
ERROR_TYPE = "error.type"
INVOCATION_ID = "sidecall.invocation.id"
CONVERSATION_ID = "gen_ai.conversation.id"

_CALL_ID, _INVOCATION_ID, _ERROR_TYPE = TextAttribute(CALL_ID), TextAttribute(INVOCATION_ID), TextAttribute(ERROR_TYPE)
_CONVERSATION_ID = TextAttribute(CONVERSATION_ID)
_COMPLETING = threading.Lock()
# Where a span goes that has been sent.
_NOWHERE = SpanProcessor()


class Template:
    """The parts that all spans of one tool share, as attributes and as bytes."""

    __slots__ = ("attributes", "head", "name")

    def __init__(self, tool: str, description: str) -> None:
        """Describe a tool."""
        self.name = f"execute_tool {tool}"
        self.attributes = {
            OPERATION: "execute_tool",
            TOOL_NAME: tool,
            TOOL_DESCRIPTION: description,
            TOOL_TYPE: "function",
        }
        self.head = write_common(self.name, self.attributes)

    def describe(self, call_id: str, invocation_id: str) -> dict[str, str]:
        """Return the attributes of one call."""
        return {**self.attributes, CALL_ID: call_id, INVOCATION_ID: invocation_id}


@dataclass(slots=True)
class Origin:
    """The origin of spans: their provider, the processor of full spans, and the exporter of small ones.

    Small ones suffice while no other processor is registered.
    """

    provider: TracerProvider
    scope: InstrumentationScope
    limits: SpanLimits
    processor: SpanProcessor
    batch: SpanProcessor = field(default=_NOWHERE)
    is_alone: bool = True


class CallSpan(Span):
    """The SDK's span, whose parts are made on first access.

    A tool that adds or reads an event or attribute finds the SDK's own fields and methods. Most never do, and only
    `written` is made. The provider fills in the slots, since an initializer would cost every call more than it does.
    """

    # Two of them are in the way of the SDK's properties, and are found sooner.
    __slots__ = ("began", "call_id", "context", "invocation_id", "origin", "parent", "span_id", "template", "trace_id")

    origin: Origin
    template: Template
    call_id: str
    invocation_id: str
    trace_id: bytes
    span_id: int
    context: SpanContext
    parent: SpanContext | None
    began: int

    is_complete = False
    conversation_id: str | None = None
    ended = 0
    failure: str | None = None
    written: bytes | None = None

    def __getattr__(self, name: str) -> Any:
        """Make the parts, then look the missing attribute up again."""
        if self.is_complete or name.startswith("__"):
            raise AttributeError(name)
        self.complete()
        return object.__getattribute__(self, name)

    def get_span_context(self) -> SpanContext:
        """Return the span's context in its trace."""
        return self.context

    def is_recording(self) -> bool:
        """Return whether it has not ended."""
        return super().is_recording() if self.is_complete else not self.ended

    def complete(self, attributes: Mapping[str, Any] | None = None) -> None:
        """Make all parts, with other attributes than those of every call where a sampler wants that."""
        with _COMPLETING:
            if self.is_complete:
                return
            origin = self.origin
            whole = _Whole(
                self.template.name,
                self.context,
                self.parent,
                sampler=origin.provider.sampler,
                resource=origin.provider.resource,
                attributes=self.template.describe(self.call_id, self.invocation_id)
                if attributes is None
                else attributes,
                kind=SpanKind.INTERNAL,
                span_processor=_NOWHERE if self.ended else origin.processor,
                limits=origin.limits,
                instrumentation_scope=origin.scope,
            )
            whole.start(self.began)
            if self.conversation_id is not None:
                whole.set_attribute(CONVERSATION_ID, self.conversation_id)
            if self.ended:
                end_span(whole, self.failure, self.ended)
            # In one step, since another thread may read it.
            self.__dict__.update({**vars(whole), "is_complete": True})

    def finish(self, failure: str | None) -> bool:
        """End with nothing but the kind of its failure, if it has failed; return whether that was possible."""
        if self.is_complete or not self.origin.is_alone:
            return False
        ended = time_ns()
        try:
            self.written = self._write(ended, failure)
        except UnicodeEncodeError:
            return False
        self.ended, self.failure = ended, failure
        self.origin.batch.on_end(self)
        return True

    def _write(self, ended: int, failure: str | None) -> bytes:
        parent = self.parent
        return write_span(
            self.trace_id,
            self.span_id,
            self.began,
            ended,
            self.template.head,
            _CALL_ID.write(self.call_id),
            _INVOCATION_ID.write(self.invocation_id),
            b"" if self.conversation_id is None else _CONVERSATION_ID.write(self.conversation_id),
            STATUS_UNSET if failure is None else _ERROR_TYPE.write(failure) + STATUS_ERROR,
            FLAGS_HERE if parent is None else _write_parent(parent, self.context),
        )


def _write_parent(parent: SpanContext, context: SpanContext) -> bytes:
    flags = FLAGS_ELSEWHERE if parent.is_remote else FLAGS_HERE
    return flags + write_parent(parent.span_id, context.trace_state.to_header())


class _Whole(Span):
    """The full form of a call's span, which the SDK makes in its tracer only."""


def end_span(span: Any, failure: str | None, at: int | None = None) -> None:
    """End a span of any kind, with the kind of its failure if it has failed."""
    if failure is not None:
        span.set_attribute(ERROR_TYPE, failure)
        span.set_status(StatusCode.ERROR)
    span.end(at)


def name_conversation(span: Any, conversation_id: str) -> None:
    """Add the conversation of its call to a span of any kind that has just begun."""
    if isinstance(span, CallSpan) and not span.is_complete:
        span.conversation_id = conversation_id
    else:
        span.set_attribute(CONVERSATION_ID, conversation_id)
