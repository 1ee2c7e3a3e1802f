"""LangGraph support of the LangChain adapter: interrupts, answers and context."""
