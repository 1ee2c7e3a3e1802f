// Accept changed tools of MCP servers, as they are shown here: one that changes again meanwhile is not accepted.

import { ask, explain } from "./api.js";
import { say } from "./console.js";

const state = document.getElementById("state");

/** Accept what is chosen of one server, and show the page as it is then. */
async function accept(box, button) {
  const chosen = [...box.querySelectorAll("input[name=tool]:checked")];
  if (chosen.length === 0) {
    say("Choose a tool first.");
    return;
  }
  const body = {
    tools: Object.fromEntries(chosen.map((it) => [it.value, it.dataset.hash])),
    schema_only: box.querySelector("[data-schema-only]").checked,
  };
  button.disabled = true;
  try {
    const found = await ask(`mcp-servers/${encodeURIComponent(box.dataset.server)}/accept`, { method: "POST", body });
    state.textContent = `Accepted: ${found.accepted.join(", ")}.`;
    location.reload();
  } catch (error) {
    button.disabled = false;
    state.textContent = explain(error);
  }
}

for (const box of document.querySelectorAll("[data-server]")) {
  const button = box.querySelector("[data-accept]");
  button.hidden = false;
  button.addEventListener("click", () => accept(box, button));
}
