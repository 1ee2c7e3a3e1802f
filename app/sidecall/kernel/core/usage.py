"""Token usage of a model, under the names of the OpenAI Agents SDK."""

from dataclasses import dataclass


@dataclass(slots=True)
class Usage:
    """Token usage of models that a tool calls itself; the calling model's usage is counted by its program."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0

    def add(self, other: "Usage") -> None:
        """Add another usage."""
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.total_tokens += other.total_tokens
