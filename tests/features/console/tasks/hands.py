"""What a person does with a page: with keys alone, or with a mouse."""

from playwright.sync_api import Locator, Page, expect

# More keys than a page has places to go to.
_MOST = 120
_FOCUSED = "() => document.activeElement"


def tab_to(page: Page, wanted: Locator, key: str = "Tab") -> int:
    """Press a key until this has the focus, and return how often that was."""
    expect(wanted).to_be_visible(timeout=60_000)
    for count in range(_MOST):
        if wanted.evaluate("(it) => it === document.activeElement"):
            return count
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} is not reached by keys")


class Keyboard:
    """Hands on a keyboard."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, wanted: Locator) -> None:
        """Go to something, and press it."""
        tab_to(self.page, wanted)
        is_box = wanted.evaluate("(it) => it.type === 'checkbox'")
        self.page.keyboard.press("Space" if is_box else "Enter")

    def fill(self, wanted: Locator, text: str) -> None:
        """Go to a field, and put this in place of what is there."""
        tab_to(self.page, wanted)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def choose(self, wanted: Locator, label: str) -> None:
        """Go to a choice, and type what is chosen."""
        tab_to(self.page, wanted)
        self.page.keyboard.type(label)


class Mouse:
    """A hand on a mouse, and one that types into what was clicked."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, wanted: Locator) -> None:
        """Click something."""
        wanted.click()

    def fill(self, wanted: Locator, text: str) -> None:
        """Click a field, and put this in place of what is there."""
        wanted.click(click_count=3)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def choose(self, wanted: Locator, label: str) -> None:
        """Choose from a list."""
        wanted.select_option(label=label)


Hands = Keyboard | Mouse
