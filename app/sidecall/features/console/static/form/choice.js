// One place of a form: its name, what it is for, and a field, which a person chooses where there are several kinds.

import { announceChange, focusFirst, cutWords, isLong, make, makeId, setAttribute } from "../dom.js";
import { parse } from "../json.js";
import { MISSING } from "./fields.js";
import { fits, fitsVariant, holds } from "./fits.js";
import { resolve } from "./schema.js";
import { listVariants } from "./variants.js";
import { nameKind, nameVariants, sayLimits } from "./words.js";

const MOST_DEPTH = 20;
const JSON_VARIANT = { schema: {}, refs: [], editor: "json", isSpare: true };

/** The field for one place of the arguments. */
export class Field {
  /**
   * Make it without its editor, which `build` and `fill` make.
   *
   * `form` is what all fields of a form share: the root schema and the makers of editors. `refs` are the references
   * that lead here, `depth` says how deep it stands.
   */
  constructor(form, schema, { name, refs = [], depth = 0 }) {
    Object.assign(this, { form, name, refs, depth });
    this.schema = resolve(schema, form.root).schema;
    this.variants = depth > MOST_DEPTH ? [] : listVariants(schema, form.root);
    const isOpen = this.variants.some((it) => it.editor === "json");
    this.variants = isOpen ? this.variants : [...this.variants, JSON_VARIANT];
    this.editors = new Map();
    this.current = -1;
    this._draw();
  }

  _draw() {
    const id = makeId();
    this.label = make("label", { id, class: "name" }, this.name);
    this.kind = make("span", { class: "kind" });
    this.head = make("div", { class: "head" }, this.label, this.kind);
    this.about = make("p", { class: "about", id: `${id}-about` });
    this.select = make("select", { class: "variant", autocomplete: "off" });
    this.select.addEventListener("change", () => this._switch(Number(this.select.value)));
    this.body = make("div", { class: "body" });
    this.error = make("p", { class: "error", id: `${id}-error`, hidden: true });
    this.element = make("div", { class: "field" }, this.head, this.about, this.body, this.error);
    this.element.addEventListener("input", (event) => this._forget(event));
  }

  /** Show the editor that a person starts with; a variant that this place is inside of only where it `isAsked` for. */
  build(isAsked = false) {
    if (this.current < 0) this._choose(this._first(isAsked));
  }

  /** The first variant, but null only where there is no other. */
  _first(isAsked) {
    const known = this.variants.filter((it) => isAsked || !it.refs.some((ref) => this.refs.includes(ref)));
    const wanted = known.find((it) => it.schema.type !== "null" && !it.isSpare) ?? known[0];
    return this.variants.indexOf(wanted);
  }

  get variant() {
    return this.variants[this.current];
  }

  get editor() {
    return this.editors.get(this.current);
  }

  _choose(index) {
    this.current = index;
    if (!this.editors.has(index)) this.editors.set(index, this._make(this.variants[index]));
    this._drawSelect();
    // What stays in place keeps the focus.
    if (this.select.length < 2) this.select.remove();
    else if (this.select.parentNode === null) this.body.prepend(this.select);
    if (this.shown !== this.editor.element) {
      this.shown?.remove();
      this.body.append(this.editor.element);
    }
    this.shown = this.editor.element;
    this._describe();
  }

  _make(variant) {
    const inside = { refs: [...this.refs, ...variant.refs], depth: this.depth + 1, name: this.name };
    return this.form.editors[variant.editor](variant, inside, this.form);
  }

  _drawSelect() {
    const isListed = (variant, index) => !variant.isSpare || this.editors.has(index);
    const names = nameVariants(this.variants, this.form.root);
    const options = names.map((name, index) => make("option", { value: index }, name));
    this.select.replaceChildren(...options.filter((_, index) => isListed(this.variants[index], index)));
    this.select.value = String(this.current);
    setAttribute(this.select, "aria-label", `Kind of ${this.name || "value"}`);
  }

  /** Change to another variant and take along what was typed, where that can hold it. */
  _switch(index) {
    const old = this.editor;
    const value = old.read([], []);
    const isNew = !this.editors.has(index);
    this._choose(index);
    if (isNew) carryOver(old, value, this.editor, this.variant, this.form.root);
    announceChange(this.body);
  }

  _describe() {
    const { schema } = this.variant ?? this;
    const control = this.editor?.control;
    const isGroup = !control && this.name !== "";
    this.kind.textContent = [this._sayKind(), sayLimits(schema), this._default()].filter(Boolean).join(" · ");
    this.about.textContent = cutWords(this.schema.description ?? schema.description ?? "");
    this.about.hidden = this.about.textContent === "";
    this.about.classList.toggle("long", isLong(this.about.textContent));
    setAttribute(this.label, "for", control?.id ?? null);
    setAttribute(this.element, "role", isGroup ? "group" : null);
    setAttribute(this.element, "aria-labelledby", isGroup ? this.label.id : null);
    this._link();
  }

  /** The kind of value, where no choice says it. */
  _sayKind() {
    if (this.select.length > 1) return "";
    if (this.editor) return nameKind(this.variant, this.form.root);
    const names = nameVariants(this.variants, this.form.root).filter((_, index) => !this.variants[index].isSpare);
    return names.length > 3 ? `one of ${names.length} kinds` : names.join(" or ");
  }

  _default() {
    return "";
  }

  /** Link what is said about the place to what a screen reader stands on. */
  _link() {
    const target = this.editor?.control ?? this.element;
    const ids = [this.error, this.about].filter((it) => !it.hidden).map((it) => it.id);
    setAttribute(target, "aria-describedby", ids.join(" ") || null);
    if (this.editor?.control) setAttribute(target, "aria-invalid", this.error.hidden ? null : "true");
  }

  /** Put a value into the field, in the variant that it is meant for. */
  fill(value) {
    const { root } = this.form;
    const able = this.variants.filter((it) => holds(value, it));
    const meant = able.find((it) => it.editor !== "json" && fitsVariant(value, it, root));
    const index = this.variants.indexOf(meant ?? able[0]);
    this.editors.clear();
    this._choose(index);
    this.editor.fill(value);
  }

  /** Return the value, and add what is wrong with it to `problems`. */
  read(path, problems) {
    this.build();
    return this.editor.read(path, problems);
  }

  /** Whether nothing has been put in. */
  isBlank() {
    return this.editor?.isBlank?.() ?? false;
  }

  /** Return the field at a path, or the nearest one around it, and the rest of the path. */
  find(path) {
    const child = path.length > 0 ? this.editor?.child?.(path[0]) : undefined;
    return child === undefined ? { field: this, rest: path } : child.find(path.slice(1));
  }

  /** Show what is wrong with the value; nothing takes it away. */
  showErrors(messages) {
    this.error.textContent = messages.join("\n");
    this.error.hidden = messages.length === 0;
    this.element.classList.toggle("invalid", messages.length > 0);
    this._link();
  }

  _forget(event) {
    const isOwn = event.target.closest(".field") === this.element;
    if (isOwn && !this.error.hidden) this.showErrors([]);
  }

  /** Call the place something else, as an item is when one before it is gone. */
  rename(name) {
    this.name = name;
    this.label.textContent = name;
    setAttribute(this.select, "aria-label", `Kind of ${name}`);
    for (const editor of this.editors.values()) editor.rename?.(name);
  }

  /** Put the focus where a person types. */
  focus() {
    if (this.editor?.control) this.editor.control.focus();
    else focusFirst(this.body) || focusFirst(this.head);
  }
}

/** Bring what was typed into another variant's editor, as far as it belongs there. */
function carryOver(old, value, editor, variant, root) {
  const typed = old.text?.() ?? "";
  const known = old.control?.classList.contains("json") ? readOrNothing(typed) : value;
  if (known === MISSING || !holds(known, { ...variant, tag: undefined })) editor.write?.(typed);
  else if (variant.editor !== "object") editor.fill(known);
  else carryMembers(known, editor, variant, root);
}

function carryMembers(value, editor, { schema, tag }, root) {
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    const isWanted = name !== tag?.name && Object.hasOwn(value, name) && fits(value[name], one, root);
    if (isWanted) editor.child(name).fill(value[name]);
  }
}

function readOrNothing(text) {
  try {
    return parse(text);
  } catch {
    return MISSING;
  }
}
