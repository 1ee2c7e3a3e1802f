// Elements of a page. Text becomes text nodes, never markup.

let count = 0;

/** Return the element of an id. */
export function it(id) {
  return document.getElementById(id);
}

/** Return an id that no other element of the page has. */
export function makeId(prefix = "f") {
  count += 1;
  return `${prefix}${count}`;
}

/** Make an element with attributes (`true` is an attribute without a value, `false` and null are none) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Set an attribute, or take it away where the value is false, null or undefined. */
export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Use a style sheet that lies beside the scripts. */
export function useSheet(name) {
  const href = new URL(name, import.meta.url).href;
  const isUsed = [...document.querySelectorAll("link")].some((link) => link.href === href);
  if (!isUsed) document.head.append(make("link", { rel: "stylesheet", href }));
}

/** Make a button that does something; `label` is what it is called where its text does not say it alone. */
export function makeButton(text, label, act, name = "") {
  const button = make(
    "button",
    { type: "button", "aria-label": label === text ? null : label, class: name || null },
    text,
  );
  button.addEventListener("click", act);
  return button;
}

/** Tell the listeners that the value of a form has changed without a keystroke. */
export function announceChange(element) {
  element.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Put the focus on the first thing within an element that takes it, and return whether there is one. */
export function focusFirst(element) {
  const wanted = "input, textarea, select, button, summary, [tabindex]";
  const found = [...element.querySelectorAll(wanted)].find((it) => !it.disabled && it.getClientRects().length > 0);
  found?.focus();
  return found !== undefined;
}

/** Return whether a text is shown in letters of one width: others take minutes where it has a very long word. */
export function isLong(text) {
  return text.length > 2_000;
}

/** Return what is shown of words that stand beside other things. */
export function cutWords(text) {
  return text.length > 10_000 ? `${text.slice(0, 10_000)}…` : text;
}
