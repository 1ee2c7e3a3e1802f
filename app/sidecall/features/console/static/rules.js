// Revoke rules.

import { ask, explain } from "./api.js";
import { say } from "./console.js";
import { make } from "./dom.js";

/** Revoke one, and take its row away. */
async function revoke(button) {
  const row = button.closest("tr");
  if (button.dataset.sure === undefined) {
    button.dataset.sure = "";
    button.textContent = "Revoke it now";
    return;
  }
  button.disabled = true;
  try {
    await ask(`approvals/rules/${encodeURIComponent(button.dataset.revoke)}`, { method: "DELETE" });
    const next = row.nextElementSibling ?? row.previousElementSibling;
    if (next === null) row.closest(".scroll").replaceWith(make("p", { class: "empty" }, "There are no rules."));
    else row.remove();
    (next?.querySelector("button") ?? document.getElementById("main")).focus();
    say("Revoked: later calls are decided one by one again.");
  } catch (error) {
    button.disabled = false;
    say(explain(error));
  }
}

for (const button of document.querySelectorAll("[data-revoke]")) {
  button.addEventListener("click", () => revoke(button));
  button.addEventListener("blur", () => {
    delete button.dataset.sure;
    button.textContent = "Revoke";
  });
}
