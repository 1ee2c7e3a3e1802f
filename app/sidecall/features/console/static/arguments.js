// The arguments of a call: as a form or as JSON text, and what the tool is given besides.

import { it } from "./dom.js";
import { makeForm } from "./form/form.js";
import { parse, stringify } from "./json.js";

/** What is filled in on the page of a tool; form_submission.js has what is done with it. */
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
