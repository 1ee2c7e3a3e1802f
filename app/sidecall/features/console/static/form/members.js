// A member of an object: a field that is sent or left out, as a box beside its name says.

import { announceChange, focusFirst, make, setAttribute } from "../dom.js";
import { Field } from "./choice.js";
import { MISSING } from "./fields.js";
import { isSecret } from "./fits.js";
import { sayValue } from "./words.js";

const SIMPLE = ["text", "number", "choice", "constant", "json"];

/**
 * The field of a member.
 *
 * Typing sets the box, and clearing takes it out; a box alone sends the empty text. So a member that is absent, null or
 * empty shows which of them it is. What has parts is made when its box is set, which recursion needs.
 */
export class Member extends Field {
  constructor(form, schema, { isRequired, ...place }) {
    super(form, schema, place);
    this.isRequired = isRequired;
    this.element.classList.add("member");
    const others = this.variants.filter((it) => !it.isSpare);
    this.isSimple = others.length > 0 && others.every((it) => SIMPLE.includes(it.editor));
    this.box = make("input", { type: "checkbox", autocomplete: "off" });
    this.boxText = make("span", {}, "send");
    this.boxLabel = make("label", { class: "send" }, this.box, this.boxText);
    // For the keyboard it comes after what a person types, and before what it opens.
    (this.isSimple ? this.element : this.head).append(this.boxLabel);
    if (isRequired) this.label.append(make("span", { class: "required" }, " required"));
    this.box.addEventListener("change", () => this._setByHand());
    this.box.addEventListener("input", (event) => event.stopPropagation());
    this.body.addEventListener("input", () => this._follow());
    this._start();
  }

  _start() {
    const isConstant = this.isSimple && this.variants.every((it) => it.editor === "constant" || it.isSpare);
    this.setSent(this.isRequired && (!this.isSimple || isConstant));
    if (this.isSimple) this.build();
    else if (this.current < 0) this._describe();
    this._drawBox();
  }

  get isSent() {
    return this.box.checked;
  }

  /** Send the member, or leave it out. */
  setSent(isSent) {
    this.box.checked = isSent;
    if (isSent) this.build();
    this._drawBox();
  }

  _drawBox() {
    const canBeEmpty = this._isPlainText() && this.isBlank();
    const isSettled = this.isSent ? !this.isBlank() : this.isSimple && this.isBlank() && !canBeEmpty;
    this.boxLabel.hidden = this.isRequired && isSettled;
    this.boxText.textContent = canBeEmpty && (this.isRequired || this.isSent) ? "send empty" : "send";
    setAttribute(this.box, "aria-label", `${this.boxText.textContent} ${this.name}`);
    this.body.hidden = !this.isSimple && !this.isSent;
    this.element.classList.toggle("unsent", !this.isSent);
    const control = this.editor?.control;
    if (control) setAttribute(control, "aria-required", this.isRequired ? "true" : null);
  }

  /** Whether the empty text is one that a person may want to send. */
  _isPlainText() {
    const { editor, schema } = this.variant ?? {};
    return editor === "text" && !schema.format && !schema.pattern && !(schema.minLength > 0);
  }

  _setByHand() {
    const { default: given } = this.schema;
    const isFresh = this.isSent && !this.isOffered && (this.current < 0 || (this.isSimple && this.isBlank()));
    if (this.isSent) this.build(true);
    if (isFresh && given !== undefined && given !== null && !isSecret(this.schema)) this.fill(given);
    this.isOffered ||= isFresh;
    this.setSent(this.isSent);
    if (this.isSent && !this.isSimple) focusFirst(this.body);
    announceChange(this.element);
  }

  _follow() {
    this.isOffered = true;
    this.setSent(!this.isSimple || !this.isBlank());
  }

  fill(value) {
    super.fill(value);
    this.setSent(true);
  }

  /** Return the value, or MISSING where the member is left out. */
  read(path, problems) {
    if (this.isSent) return super.read(path, problems);
    if (this.isRequired) problems.push({ path, message: "Required." });
    return MISSING;
  }

  _default() {
    const { default: given } = this.schema;
    return given === undefined || this.isRequired || isSecret(this.schema) ? "" : `default ${sayValue(given)}`;
  }
}
