"""Support for tools written for LangChain and the OpenAI Agents SDK: classes, decorators and objects."""
