"""Passages are found in a folder of files, as they are now, by words that are never syntax."""

import os
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecall import IndexedFolder, ToolMessage
from sidecall.features.vector_stores.index import FileIndex
from tests.kit.calls import run
from tests.tools import shipped

module = shipped.load("file_search")


@pytest.fixture(name="folder")
def write_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write some files, and let the tool look there."""
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "herons.md").write_text("# Herons\n\nGrey herons fish in shallow water.\n")
    (folder / "herons.md.attributes.json").write_text('{"year": 2025, "checked": true, "odd": [1]}')
    (folder / "deep" / "owls.txt").write_text("Owls hunt at night. They do not fish.\n")
    (folder / "page.html").write_text("<p hidden>secretive</p><p>Storks <b>migrate</b> south.</p>")
    for number in range(8):  # What stands in every second file says nothing.
        (folder / f"other{number}.txt").write_text(f"Number {number} is about the weather.\n")
    (folder / "binary.bin").write_bytes(b"herons\0\xff")
    (folder / ".hidden").write_text("herons in hiding")
    os.symlink("/etc/passwd", folder / "link.txt")
    monkeypatch.setenv("SIDECALL_FILE_SEARCH_FOLDER", str(folder))
    return folder


async def search(*queries: str, **args: Any) -> ToolMessage:
    """Call the tool as a model does."""
    return await run(module.file_search, {"queries": list(queries), **args})


def names(message: ToolMessage) -> list[str]:
    """Return the files of the passages that were found."""
    assert isinstance(message.artifact, dict)
    return [found["filename"] for found in message.artifact["results"]]


async def test_passages_are_found(folder: Path) -> None:
    """In OpenAI's shape for the program, as text for the model."""
    message = await search("where do herons fish?")
    first = message.artifact["results"][0]

    assert names(message) == ["herons.md", "deep/owls.txt"]
    assert str(message.content).startswith(f"[1] herons.md ({first['score']})\n# Herons\n\nGrey herons fish")
    assert 0 < message.artifact["results"][1]["score"] < first["score"] < 1
    assert first["attributes"] == {"year": 2025, "checked": True, "filename": "herons.md", "type": "md"}
    assert message.artifact["queries"] == ["where do herons fish?"]
    assert first["file_id"] == "herons.md"


@pytest.mark.parametrize(
    ("queries", "args", "found"),
    [
        (["stork migration"], {}, ["page.html"]),
        (["secretive"], {}, []),
        (["root"], {}, []),
        (["herons", "owls"], {}, ["herons.md", "deep/owls.txt"]),
        (["fish"], {"max_num_results": 1}, 1),
        (["fish"], {"filters": {"type": "eq", "key": "checked", "value": True}}, ["herons.md"]),
        (["fish"], {"filters": {"type": "eq", "key": "type", "value": "txt"}}, ["deep/owls.txt"]),
        (["fish"], {"score_threshold": 1.0}, []),
    ],
)
async def test_what_is_found(folder: Path, queries: list[str], args: Any, found: Any) -> None:
    """By stems, of visible text, where filters let it."""
    listed = names(await search(*queries, **args))

    assert (len(listed) if isinstance(found, int) else sorted(listed)) == (
        found if isinstance(found, int) else sorted(found)
    )


async def test_nothing_found_is_said(folder: Path) -> None:
    """With what to do."""
    assert (await search("zebra")).content == "Nothing was found. Try other words."


async def test_without_a_folder_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the model, who can tell the user."""
    monkeypatch.delenv("SIDECALL_FILE_SEARCH_FOLDER", raising=False)

    assert (await search("x")).content == (
        "No files can be searched: the operator of this server has to set SIDECALL_FILE_SEARCH_FOLDER."
    )


def test_what_changes_is_found_as_it_is(folder: Path) -> None:
    """A few seconds later."""
    now = [0.0]
    index = IndexedFolder(folder, clock=lambda: now[0])

    def look(word: str) -> list[str]:
        return [piece.filename for piece in index.search([word])]

    assert look("grey") == ["herons.md"]
    (folder / "herons.md").write_text("Only cranes are left here.\n")
    (folder / "new.txt").write_text("Bitterns boom.\n")
    (folder / "deep" / "owls.txt").unlink()
    assert look("bitterns") == []
    now[0] = 6.0
    assert (look("grey"), look("cranes"), look("bitterns"), look("owls")) == ([], ["herons.md"], ["new.txt"], [])
    (folder / "new.txt").write_bytes(b"bitterns\0")
    now[0] = 12.0
    assert look("bitterns") == []
    index.close()


async def test_each_tenant_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the operator says so, and no name leads elsewhere."""
    for tenant in ("one", "two"):
        (tmp_path / tenant).mkdir()
        (tmp_path / tenant / "a.txt").write_text(f"tea of {tenant}")
    monkeypatch.setenv("SIDECALL_FILE_SEARCH_FOLDER", f"{tmp_path}/{{tenant}}")

    for tenant, found in (("one", "tea of one"), ("two", "tea of two"), ("..", ""), ("one/../two", ""), ("", "")):
        assert _read_as(tenant) == found


def _read_as(tenant: str) -> str:
    try:
        folder = module._choose_folder(tenant)
    except module.ToolException:
        return ""
    return "" if folder is None else module.FOLDERS.find(folder).search(["tea"])[0].text


@settings(max_examples=50, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet=string.punctuation + " aNEOR", max_size=60)))
def test_no_query_is_syntax(query: str) -> None:
    """No matter what is written."""
    HERON.search([query, f'"{query}', f"{query}* NEAR(", f"text : {query}", f"{query} AND"])


HERON = FileIndex()
HERON.put([("a", "A heron and NOT an owl.", {})])


async def test_something_is_asked_for(folder: Path) -> None:
    """As one query, or as several."""
    assert names(await run(module.file_search, {"query": "grey"})) == ["herons.md"]
    assert (await run(module.file_search, {})).content == "queries: say what to look for."
