// Rows that a person adds and removes: the items of a list, the keys of an object.

import { announceChange, focusFirst, make, makeButton } from "../dom.js";
import { MISSING } from "./fields.js";
import { itemSchema } from "./fits.js";

/** Rows with a button to add one and one in each row to remove it. */
export class Rows {
  /**
   * `makeRow(index, isAsked)` makes `{field, element}`, because a person asked for it or because it has to be there;
   * `nameRow(row, index)` says what a row is called now.
   */
  constructor({ addText, addLabel, canAdd, canRemove, makeRow, nameRow = ({ field }) => field.name }) {
    Object.assign(this, { canAdd, canRemove, makeRow, nameRow, list: [] });
    this.box = make("div", { class: "rows" });
    this.button = makeButton(addText, addLabel, () => this._addByHand(), "add");
    this.element = make("div", {}, this.box, this.button);
    this.rename();
  }

  /** Add a row at the end. */
  add(isAsked = false) {
    const row = this.makeRow(this.list.length, isAsked);
    row.remove = makeButton("Remove", "", () => this._removeByHand(row), "remove");
    row.outer = make("div", { class: "row" }, row.element, row.remove);
    this.list.push(row);
    this.box.append(row.outer);
    return row;
  }

  _addByHand() {
    const row = this.add(true);
    this.rename();
    focusFirst(row.element);
    announceChange(this.box);
  }

  _removeByHand(row) {
    const index = this.list.indexOf(row);
    this.list.splice(index, 1);
    row.outer.remove();
    this.rename();
    const next = this.list[index] ?? this.list.at(-1);
    if (next === undefined || next.remove.hidden) this.button.focus();
    else next.remove.focus();
    announceChange(this.box);
  }

  /** Take all rows away. */
  clear() {
    this.list = [];
    this.box.replaceChildren();
    this.rename();
  }

  /** Say what each row is called, and whether one more may be added. */
  rename() {
    for (const [index, row] of this.list.entries()) {
      const name = this.nameRow(row, index);
      row.remove.setAttribute("aria-label", `Remove ${name}`);
      row.remove.hidden = !this.canRemove(index, this.list.length);
    }
    this.button.hidden = !this.canAdd(this.list.length);
    this.element.hidden = this.button.hidden && this.list.length === 0;
  }
}

/** Make the rows of a list, or of a tuple, whose items have their own schemas. */
export function makeArray({ schema }, place, form) {
  const { minItems = 0, maxItems = Infinity, prefixItems = [] } = schema;
  let name = place.name || "items";
  const most = schema.items === false ? Math.min(prefixItems.length, maxItems) : maxItems;
  const rows = new Rows({
    addText: "Add",
    addLabel: `Add to ${name}`,
    canAdd: (count) => count < most,
    canRemove: (index, count) => count > minItems && (index >= prefixItems.length || index === count - 1),
    makeRow: makeItem,
    nameRow: ({ field }, index) => {
      field.rename(`${name}[${index}]`);
      return field.name;
    },
  });

  function makeItem(index, isAsked) {
    const one = itemSchema(schema, index);
    const field = form.makeField(one, { name: `${name}[${index}]`, refs: place.refs, depth: place.depth });
    field.build(isAsked);
    if (typeof one === "object" && one?.default !== undefined) field.fill(one.default);
    return { field, element: field.element };
  }

  function resize(count) {
    rows.clear();
    for (let index = 0; index < count; index += 1) rows.add();
    rows.rename();
  }

  resize(Math.min(minItems, 50));
  return {
    element: rows.element,
    control: null,
    read: (path, problems) => rows.list.map(({ field }, index) => readItem(field, [...path, index], problems)),
    fill: (values) => {
      resize(values.length);
      for (const [index, value] of values.entries()) rows.list[index].field.fill(value);
    },
    child: (index) => rows.list[index]?.field,
    rename: (other) => {
      name = other;
      rows.rename();
    },
    isBlank: () => false,
  };
}

function readItem(field, path, problems) {
  const value = field.read(path, problems);
  return value === MISSING ? null : value;
}
