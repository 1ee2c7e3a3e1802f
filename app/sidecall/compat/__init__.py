"""Tools written for LangChain and for the OpenAI Agents SDK: their classes, decorators and objects."""
