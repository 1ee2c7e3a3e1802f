// What tests do with forms inside of a page: fill them, or work them as a person does, and read them.

import { listDifferences, showDifferences } from "/static/differences.js";
import { parse, stringify } from "/static/json.js";
import { showText } from "/static/tree.js";
import { makeForm } from "/static/form/form.js";

const violations = [];
const takeViolations = () => violations.splice(0);
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.violatedDirective} ${event.sample}`),
);
window.addEventListener("error", (event) => violations.push(event.message));

/** Open a form on the page, alone. */
function open(schema, options = {}) {
  window.form = makeForm(parse(schema), options);
  document.querySelector("#place").replaceChildren(window.form.element);
  return window.form;
}

/** Open a form as a page does, with the focus in it, on a value unless that is null. */
function begin(schema, text, options) {
  open(schema, text === null ? options : { ...options, value: parse(text) }).focus();
}

function say({ value, problems }) {
  return { text: stringify(value), problems };
}

/** Fill a form with a value and read it. */
function prefill(schema, text) {
  return say(open(schema, { value: parse(text) }).read());
}

/** Make a form look like a filled one by what a person can do, and read it; null where they have no such field. */
function type(schema, text) {
  const wanted = makeForm(parse(schema), { value: parse(text) });
  const typed = open(schema);
  document.querySelector("#place").append(wanted.element);
  const isDone = copy(wanted.element.querySelector(".root"), typed.element.querySelector(".root"));
  wanted.element.remove();
  return isDone ? say(typed.read()) : null;
}

const inside = (field, selector) => field.querySelector(`:scope > ${selector}`);

function copy(from, to) {
  const [box, wanted] = [to, from].map((it) => inside(it, ".send > input") ?? inside(it, ".head > .send > input"));
  const needsParts = (it) => inside(it, ".body").hidden;
  if (wanted?.checked && needsParts(to)) box.click();
  if (box && !wanted.checked && !needsParts(to) && box.checked) box.click();
  if (wanted && !wanted.checked) return box.checked === false;
  if (!copyVariant(from, to)) return false;
  copyControl(from, to);
  if (wanted?.checked && !box.checked) box.click();
  // The box alone brings the default along.
  copyControl(from, to);
  if (wanted?.checked && !box.checked) box.click();
  return copyParts(from, to);
}

function copyVariant(from, to) {
  const [select, wanted] = [to, from].map((it) => inside(it, ".body > .variant"));
  // Without a choice there is one kind, the first.
  const value = wanted?.value ?? "0";
  if ((!wanted && !select) || select?.value === value) return true;
  if (!select || ![...select.options].some((it) => it.value === value)) return false;
  enter(select, value);
  return true;
}

function copyControl(from, to) {
  const selector = ".body > :is(textarea, input, select:not(.variant))";
  const [control, wanted] = [to, from].map((it) => inside(it, selector));
  if (control && control.value !== wanted.value) enter(control, wanted.value);
}

function enter(control, value) {
  control.focus();
  control.value = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
  control.dispatchEvent(new Event("change", { bubbles: true }));
}

function copyParts(from, to) {
  const lists = [to, from].map((it) => [...it.querySelectorAll(".rows")].filter((one) => one.closest(".field") === it));
  for (const [index, rows] of lists[0].entries()) {
    const count = lists[1][index].children.length;
    for (let tries = 0; tries < 300 && rows.children.length < count; tries += 1)
      rows.parentElement.querySelector(":scope > .add").click();
    while (rows.children.length > count) rows.lastElementChild.querySelector(":scope > .remove").click();
    if (rows.children.length !== count) return false;
  }
  const [fields, wanted] = [to, from].map((it) =>
    [...it.querySelectorAll(".field")].filter((one) => one.parentElement.closest(".field") === it),
  );
  return fields.every((field, index) => copy(wanted[index], field));
}

/** Do one of these for each `[name, schema, text]`. */
function each(how, cases) {
  return cases.map(([, schema, text]) => window.kit[how](schema, text));
}

/** Name the kinds of what a person sees on the page, in their order. */
function list() {
  const controls = [...document.querySelectorAll("#place :is(textarea, select, input:not([type=checkbox]))")];
  const seen = controls.filter((it) => it.getClientRects().length > 0);
  return seen.map((it) => (it.className === "variant" ? "select" : it.className || it.localName)).join(" ");
}

/** Show the errors of the open form, and say at which fields they stand and whether these are linked to them. */
function refuse(errors) {
  window.form.showErrors(errors);
  const said = [...document.querySelectorAll(".error")].filter((it) => it.getClientRects().length > 0);
  return said.map((it) => {
    const field = it.closest(".field");
    const control = field.querySelector(":scope > .body > :is(textarea, input, select:not(.variant))") ?? field;
    const isLinked = control.getAttribute("aria-describedby")?.split(" ").includes(it.id) ?? false;
    return [field.querySelector(".name").firstChild?.data ?? "", it.textContent, isLinked];
  });
}

/** Show an element on the page, alone. */
function show(element) {
  document.querySelector("#place").replaceChildren(element);
}

const showTree = (text, options) => show(showText(text, options));
const showMany = (start, piece, count, end) => showTree(start + piece.repeat(count) + end);
const compare = (one, two) => show(showDifferences(parse(one), parse(two)));
const write = (it, side) => (side in it ? stringify(it[side]) : null);

function differ(one, two) {
  const found = listDifferences(parse(one), parse(two));
  return found.map((it) => [it.path, it.kind, write(it, "before"), write(it, "after")]);
}

const report = () => say(window.form.read());

Object.assign(window, {
  kit: {
    begin,
    compare,
    differ,
    open,
    each,
    list,
    refuse,
    report,
    showMany,
    showTree,
    prefill,
    type,
    parse,
    stringify,
    takeViolations,
  },
});
document.documentElement.dataset.ready = "yes";
