// What each of the packages is asked to bring across, and what a model has to read of it.

export const IMAGE = "iVBORw0KGgo=";

/** What a model asks for, step by step; arguments that are a text have their digits kept. */
export const CALLS = [
  [["double", { number: 4 }], ["find", { query: "tea" }]],
  [["double", { number: -1 }], ["fail", {}], ["recall", { key: "key" }]],
  [["repeat_number", '{"number": 12345678901234567890}']],
];

export const EXPECTED = ["8", "tea for nobody", "Not below zero.", "No pencil.", "of the state", "12345678901234567890 None"];

/** What a model reads whose number has lost digits on its way through a package. */
export const ROUNDED = /may have been rounded/;
