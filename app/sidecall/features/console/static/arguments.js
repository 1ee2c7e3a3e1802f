// The arguments of a call: as a form or as JSON text, and what the tool is given besides.

import { makeForm } from "./form/form.js";
import { parse, stringify } from "./json.js";
import { dropSecrets, readFragment } from "./links.js";

const it = (id) => document.getElementById(id);

/** What is filled in on the page of a tool. */
export class Arguments {
  constructor(told) {
    this.told = told;
    this.isText = false;
    const begun = readFragment(location.hash) ?? readBegun();
    this.form = makeForm(told.schema, begun === null ? {} : { value: begun });
    it("args-form").append(this.form.element);
    this.given = makeGiven(told);
    if (this.given !== null) it("given").append(this.given.element);
    it("tab-form").addEventListener("click", () => this.turn(false));
    it("tab-json").addEventListener("click", () => this.turn(true));
    for (const tab of [it("tab-form"), it("tab-json")]) tab.addEventListener("keydown", (event) => this.move(event));
    it("call").addEventListener("input", () => this.remember());
  }

  /** Return the value as it is filled in, or null where it is none yet, which is said at its place. */
  read() {
    if (this.isText) return this.readText();
    const { value, problems } = this.form.read();
    this.form.showErrors(problems);
    if (problems.length > 0) this.form.focus();
    return problems.length > 0 ? null : value;
  }

  readText() {
    const field = it("args-text");
    try {
      const value = parse(field.value.trim() === "" ? "{}" : field.value);
      if (value === null || Array.isArray(value) || !stringify(value).startsWith("{"))
        throw new SyntaxError("Write a JSON object: { … }");
      this.say("");
      return value;
    } catch (error) {
      this.say(error.message);
      field.focus();
      return null;
    }
  }

  say(words) {
    it("args-error").textContent = words;
    it("args-text").toggleAttribute("aria-invalid", words !== "");
    if (words !== "") it("args-text").setAttribute("aria-invalid", "true");
  }

  /** Return the call to send, or null where something has to be filled in first. */
  makeCall() {
    const args = this.read();
    if (args === null) return null;
    const call = { type: "tool_call", name: this.told.name, args };
    if (this.given === null) return call;
    const { value, problems } = this.given.read();
    this.given.showErrors(problems);
    if (problems.length > 0) {
      it("given").closest("details").open = true;
      this.given.focus();
      return null;
    }
    return { ...call, ...value };
  }

  /** Return a link to this page that fills in these arguments, without what is secret. */
  makeLink() {
    const kept = dropSecrets(this.read(), this.told.schema);
    return `${location.origin}${location.pathname}#${encodeURIComponent(stringify(kept))}`;
  }

  /** Show the form, or the text. */
  turn(isText) {
    if (isText === this.isText) return;
    const value = isText ? this.form.read().value : this.readText();
    if (value === null) return;
    if (isText) it("args-text").value = this.write(value);
    else this.form.fill(value);
    this.isText = isText;
    it("args-form").hidden = isText;
    it("args-json").hidden = !isText;
    for (const [id, isChosen] of [
      ["tab-form", !isText],
      ["tab-json", isText],
    ]) {
      it(id).setAttribute("aria-selected", String(isChosen));
      it(id).tabIndex = isChosen ? 0 : -1;
    }
  }

  move(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    this.turn(!this.isText);
    it(this.isText ? "tab-json" : "tab-form").focus();
  }

  /** Write a value as a person reads it. */
  write(value) {
    return typeof value === "string" ? value : stringify(value, 2);
  }

  showErrors(errors) {
    this.form.showErrors(errors);
    const words = errors.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n");
    this.say(this.isText ? words : "");
  }

  focus() {
    if (this.isText) it("args-text").focus();
    else this.form.focus();
  }

  /** Put the focus on the first field that is filled in, as when the page opens. */
  enter() {
    const fields = [...this.form.element.querySelectorAll("input:not([type=checkbox]), textarea, select")];
    const first = fields.find((field) => field.getClientRects().length > 0);
    if (first === undefined) this.focus();
    else first.focus();
  }

  clear() {
    it("args-text").value = "{}";
    it("args-form").replaceChildren();
    this.form = makeForm(this.told.schema);
    it("args-form").append(this.form.element);
    this.say("");
    history.replaceState(null, "", location.pathname + location.search);
    this.enter();
  }

  /** Keep what is filled in for when the page is loaded again. */
  remember() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      try {
        const value = this.isText ? parse(it("args-text").value) : this.form.read().value;
        history.replaceState({ args: stringify(dropSecrets(value, this.told.schema)) }, "");
      } catch {
        // It is no JSON yet, or too much to keep.
      }
    }, 300);
  }
}

function readBegun() {
  try {
    return typeof history.state?.args === "string" ? parse(history.state.args) : null;
  } catch {
    return null;
  }
}

/** Make the form for what the caller's program would send beside the arguments; null where nothing is. */
function makeGiven(told) {
  const sources = ["state", "context"].filter(
    (source) => told.given.some((it) => it.from === source) || (source === "state" && told.readsState),
  );
  if (sources.length === 0) return null;
  const schema = { type: "object", properties: {}, required: [], $defs: {}, additionalProperties: false };
  for (const source of sources) {
    const entries = told.given.filter((it) => it.from === source);
    schema.properties[source] = describe(entries, schema.$defs);
    if (entries.some((it) => it.required)) schema.required.push(source);
  }
  return makeForm(schema);
}

function describe(entries, defs) {
  const isPlain = entries.length > 0 && entries.every((it) => typeof it.path === "string" && /^\w+$/.test(it.path));
  if (!isPlain) return {};
  const described = { type: "object", properties: {}, required: [], additionalProperties: true };
  for (const { path, schema, required } of entries) {
    const { $defs, ...rest } = schema ?? {};
    Object.assign(defs, $defs);
    described.properties[path] = rest;
    if (required) described.required.push(path);
  }
  return described;
}
