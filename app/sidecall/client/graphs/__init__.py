"""What the adapter for LangChain knows of LangGraph: what it keeps of interrupts, takes as answers and gives along."""
