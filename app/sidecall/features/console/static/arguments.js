// The arguments of a call: as a form or as JSON text, and what the tool is given besides.

import { it } from "./dom.js";
import { makeForm } from "./form/form.js";
import { parse, stringify } from "./json.js";

/** What is filled in on the page of a tool. */
export class Arguments {
  /** `given` is the form for what the tool is given besides; null where there is none. */
  constructor(told, given) {
    Object.assign(this, { told, given });
    this.isText = false;
    const begun = readFragment(location.hash) ?? readBegun();
    this.form = makeForm(told.schema, begun === null ? {} : { value: begun });
    it("args-form").append(this.form.element);
    if (given !== null) it("given").append(given.element);
    it("tab-form").addEventListener("click", () => this.turn(false));
    it("tab-json").addEventListener("click", () => this.turn(true));
    for (const tab of [it("tab-form"), it("tab-json")]) tab.addEventListener("keydown", (event) => this.move(event));
    it("call").addEventListener("input", () => this.remember());
  }

  /** Return the value as it is filled in, or null where it is none yet, which is said at its place. */
  read() {
    if (this.isText) return this.text.read(this);
    const { value, problems } = this.form.read();
    this.form.showErrors(problems);
    if (problems.length > 0) this.form.focus();
    return problems.length > 0 ? null : value;
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
  async makeLink() {
    const kept = await this.withoutSecrets(this.read());
    return `${location.origin}${location.pathname}#${encodeURIComponent(stringify(kept))}`;
  }

  async withoutSecrets(value) {
    const { dropSecrets } = await import("./links.js");
    return dropSecrets(value, this.told.schema);
  }

  /** Show the form, or the text, which comes when it is first wanted. */
  async turn(isText) {
    this.text ??= await import("./texts.js");
    this.text.turn(this, isText);
  }

  async move(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    await this.turn(!this.isText);
    it(this.isText ? "tab-json" : "tab-form").focus();
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
    this.waiting = setTimeout(async () => {
      try {
        const value = this.isText ? parse(it("args-text").value) : this.form.read().value;
        history.replaceState({ args: stringify(await this.withoutSecrets(value)) }, "");
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

/** Read the arguments that a link carries behind its `#`; null where it carries none. */
function readFragment(fragment) {
  if (!fragment.startsWith("#%7B") && !fragment.startsWith("#{")) return null;
  try {
    return parse(decodeURIComponent(fragment.slice(1)));
  } catch {
    return null;
  }
}
