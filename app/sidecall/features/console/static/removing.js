// Take away what a row of a table is about: a rule, a secret, an account. The button asks once more.

import { ask, explain } from "./api.js";
import { say } from "./console.js";
import { make } from "./dom.js";

/** Take one away, and its row with it. */
async function remove(button) {
  const row = button.closest("tr");
  if (button.dataset.sure === undefined) {
    button.dataset.sure = "";
    button.textContent = `${button.dataset.word} it now`;
    say(`Press once more to ${button.dataset.word.toLowerCase()} it.`);
    return;
  }
  button.disabled = true;
  try {
    await ask(button.dataset.remove, { method: "DELETE" });
    const next = row.nextElementSibling ?? row.previousElementSibling;
    const table = row.closest(".scroll");
    if (next === null) table.replaceWith(make("p", { class: "empty" }, table.dataset.none));
    else row.remove();
    (next?.querySelector("button") ?? document.getElementById("main")).focus();
    say(button.dataset.done);
  } catch (error) {
    button.disabled = false;
    say(explain(error));
  }
}

for (const button of document.querySelectorAll("[data-remove]")) {
  button.dataset.word = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => remove(button));
  button.addEventListener("blur", () => {
    delete button.dataset.sure;
    button.textContent = button.dataset.word;
  });
}
