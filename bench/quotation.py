"""Quote a report in a document."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quotation:
    """The marks between which a document quotes a report."""

    begin: str
    end: str

    def quote(self, document: str, report: str) -> str:
        """Return the document with the report between the marks.

        Raises:
            ValueError: It lacks them.
        """
        before, begin, rest = document.partition(self.begin)
        _, end, after = rest.partition(self.end)
        if not begin or not end:
            raise ValueError(f"the document lacks {self.begin} or {self.end}")
        return f"{before}{begin}\n\n{report}\n{end}{after}"
