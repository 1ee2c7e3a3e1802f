"""Search the web with Tavily."""

import asyncio
import datetime
import email.utils
import json
import os
import re
from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

import sidecall
from sidecall import BaseTool, ToolAnnotations, ToolException
from sidecall.lazy_imports import Later

# Loaded with the first search, which not every server sees.
httpx = Later("httpx")

Depth = Literal["basic", "advanced", "fast", "ultra-fast"]
TimeRange = Literal["day", "week", "month", "year"]
Topic = Literal["general", "news", "finance"]
_OpenClient = tuple[Any, AsyncGenerator[None, None]]

DEFAULT_BASE_URL = "https://api.tavily.com"
MAX_REASON = 300
NO_URL = "The address of Tavily is not a URL. Check TAVILY_API_BASE_URL."
#: What the model reads of each result; the rest is for the program.
SHOWN = ("title", "url", "content", "score")
SETTINGS = (
    "max_results",
    "include_answer",
    "include_raw_content",
    "include_image_descriptions",
    "include_favicon",
    "auto_parameters",
    "exact_match",
)


class TavilySearch(BaseTool):
    """Search the web; needs the environment variable TAVILY_API_KEY, which is read at each call.

    The settings are parameters of Tavily's API that the model does not choose; None leaves them to the API. `country`
    counts for the topic general only. `api_base_url` None means the environment variable TAVILY_API_BASE_URL, else
    Tavily itself. `request_timeout` is in seconds, for each wait on the network; `timeout` limits the whole call.
    """

    name: str = "tavily_search"
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    tags: list[str] | None = Field(default_factory=lambda: ["web", "search"])
    annotations: ToolAnnotations | None = ToolAnnotations(read_only=True)
    extras: dict[str, Any] | None = Field(default_factory=lambda: {"replaces": "web_search"})

    max_results: Annotated[int, Field(ge=1, le=20)] | None = None
    include_answer: bool | Literal["basic", "advanced"] | None = None
    include_raw_content: bool | Literal["markdown", "text"] | None = None
    include_image_descriptions: bool | None = None
    include_favicon: bool | None = None
    country: str | None = None
    auto_parameters: bool | None = None
    exact_match: bool | None = None
    api_base_url: str | None = None
    request_timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 20.0

    _clients: dict[tuple[asyncio.AbstractEventLoop, str], _OpenClient] = PrivateAttr(default_factory=dict)

    async def _arun(
        self,
        query: Annotated[str, Field(min_length=1)],
        include_domains: list[str] | None = None,
        exclude_domains: list[str] | None = None,
        search_depth: Depth = "basic",
        include_images: bool = False,
        time_range: TimeRange | None = None,
        topic: Topic = "general",
        start_date: datetime.date | None = None,
        end_date: datetime.date | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Search the web for current, cited facts; answers with the title, URL, text and score of each page found.

        Args:
            query: What to look for, in a few words.
            include_domains: Answer with pages of these domains only, such as ["nasa.gov"]. Set it when the user names
                a site or an organization as the source.
            exclude_domains: Leave out the pages of these domains. Set it when the user does not want a source.
            search_depth: "basic" for simple questions, "advanced" for rare or complex ones; "fast" and "ultra-fast"
                answer sooner and with less.
            include_images: Look for images too. They are handed to the program, not shown in the text.
            time_range: Only pages published in the last day, week, month or year. Set it when the user names a period.
            topic: "news" for politics, sports and major events, "finance" for markets and companies, else "general".
            start_date: Only pages published on or after this date, YYYY-MM-DD.
            end_date: Only pages published on or before this date, YYYY-MM-DD.
        """
        filters = {
            "include_domains": include_domains or None,
            "exclude_domains": exclude_domains or None,
            "search_depth": self._unless_automatic(search_depth, "basic"),
            "time_range": time_range,
            "topic": self._unless_automatic(topic, "general"),
            "start_date": start_date and start_date.isoformat(),
            "end_date": end_date and end_date.isoformat(),
        }
        body = {"query": query, **filters, "include_images": include_images, **self._settings(topic)}
        response = await self._search({name: value for name, value in body.items() if value is not None})
        found = _results(response)
        if not found:
            raise ToolException(_no_results(query, filters))
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")), response

    def _unless_automatic(self, value: str, default: str) -> str | None:
        # What is sent beats what auto_parameters would choose, so a default must not be sent.
        return None if self.auto_parameters and value == default else value

    def _settings(self, topic: Topic) -> dict[str, Any]:
        # With another topic the API refuses a country, which the model could not mend.
        country = self.country if topic == "general" else None
        return {"country": country, **{name: getattr(self, name) for name in SETTINGS}}

    async def _search(self, body: Mapping[str, Any]) -> dict[str, Any]:
        key = _api_key()
        headers = {"Authorization": f"Bearer {key}", "X-Client-Source": "sidecall"}
        client = await self._client()
        try:
            response = await client.post("search", json=body, headers=headers, timeout=self.request_timeout)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise ToolException(NO_URL) from None
        except httpx.TimeoutException:
            text = f"Tavily did not answer within {self.request_timeout:g} seconds. Try again later."
            raise ToolException(text, retryable=True) from None
        except httpx.RequestError:
            text = "Tavily cannot be reached. Try again later; the operator should check the server's network."
            raise ToolException(text, retryable=True) from None
        # An answer of the API goes to the model and to the program, so it must not contain the key.
        text = response.text.replace(key, "[TAVILY_API_KEY]")
        if not response.is_success:
            raise _refusal(response.status_code, text, _retry_after(response.headers))
        return _object(text)

    async def _client(self) -> Any:
        """Return the client of the address and of the running event loop; other loops cannot use its connections."""
        base = self.api_base_url or os.environ.get("TAVILY_API_BASE_URL") or DEFAULT_BASE_URL
        key = (asyncio.get_running_loop(), base)
        if key not in self._clients:
            for ended in [other for other in list(self._clients) if other[0].is_closed()]:
                self._clients.pop(ended, None)
            client = _open_client(base)
            closing = _close_with_loop(client)
            self._clients[key] = (client, closing)
            await anext(closing)
        return self._clients[key][0]


def _open_client(base: str) -> Any:
    if base == DEFAULT_BASE_URL:
        return sidecall.guarded_async_client(base_url=base)
    try:
        url = httpx.URL(base)
        host = f"[{url.host}]" if ":" in url.host else url.host
        # The operator has set the address, so it need not be a public one.
        named = f"{host}:{url.port or {'http': 80, 'https': 443}[url.scheme]}"
        return sidecall.guarded_async_client(base_url=url, private=[named])
    except (httpx.InvalidURL, KeyError, ValueError):
        raise ToolException(NO_URL) from None


async def _close_with_loop(client: Any) -> AsyncGenerator[None, None]:
    # A tool is not told when the server stops, but loops finish the generators begun in them before they close.
    async with client:
        yield


def _api_key() -> str:
    key = os.environ.get("TAVILY_API_KEY", "").strip()
    if not key:
        raise ToolException(
            "Web search is not set up: the operator of this server has to set the environment variable TAVILY_API_KEY."
        )
    if not re.fullmatch(r"[!-~]+", key):
        # It could not be sent as a header, and the errors about that repeat it.
        raise ToolException("TAVILY_API_KEY is not a key: it holds blanks or characters outside ASCII.")
    return key


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_null)
    except (ValueError, RecursionError):
        raise ToolException("Tavily's answer is not JSON. Try again later.", retryable=True) from None
    if not isinstance(value, dict):
        raise _refuse_form("it is not an object")
    return value


def _null(_: str) -> None:
    """Read NaN and Infinity, which are not JSON, as null."""


def _results(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    results = response.get("results")
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        raise _refuse_form("`results` is not a list of objects")
    return [{name: result.get(name) for name in SHOWN} for result in results]


def _refuse_form(reason: str) -> ToolException:
    return ToolException(f"Tavily's answer has an unexpected form: {reason}. Check TAVILY_API_BASE_URL.")


def _no_results(query: str, filters: Mapping[str, Any]) -> str:
    narrow = ("time_range", "start_date", "end_date", "include_domains", "exclude_domains")
    suggestions = [f"remove {name}" for name in narrow if filters[name] is not None]
    if filters["topic"] in ("news", "finance"):
        suggestions.append('use the topic "general"')
    if filters["search_depth"] != "advanced":
        suggestions.append('use the search_depth "advanced"')
    suggestions.append("use other words")
    return f"No search results found for '{query}'. Suggestions: {', '.join(suggestions)}."


def _refusal(status: int, text: str, retry_after: float | None) -> ToolException:
    """Make what the model reads of an answer that is not a success."""
    if status in (401, 403):
        return ToolException(f"Tavily refused the API key (HTTP {status}). Check TAVILY_API_KEY.")
    if status == 429:
        wait = "Try again later" if retry_after is None else f"Try again in {retry_after:.0f} seconds"
        return ToolException(f"Tavily's rate limit is exceeded. {wait}.", retryable=True, retry_after=retry_after)
    if status in (432, 433):
        limit = "plan's limit" if status == 432 else "pay-as-you-go limit"
        return ToolException(f"The {limit} at Tavily is used up (HTTP {status}). Raise it there.")
    if status >= 500:
        failed = f"Tavily failed (HTTP {status}). Try again later."
        return ToolException(failed, retryable=True, retry_after=retry_after)
    return ToolException(f"Tavily refused the search (HTTP {status}): {_reason(text)}")


def _reason(text: str) -> str:
    """Find the API's own words; they are in `detail`, in one of three forms."""
    try:
        detail = _object(text).get("detail")
    except ToolException:
        detail = None
    if isinstance(detail, list):
        detail = "; ".join(str(problem.get("msg")) for problem in detail if isinstance(problem, dict))
    if isinstance(detail, dict):
        detail = detail.get("error")
    return detail[:MAX_REASON] if detail and isinstance(detail, str) else "it gave no reason."


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the header Retry-After, which holds seconds or an HTTP date; None when it holds neither."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
        wait = moment.astimezone(datetime.UTC) - datetime.datetime.now(datetime.UTC)
    except (ValueError, OverflowError):
        return None
    return max(0.0, round(wait.total_seconds()))


tavily_search = TavilySearch()
