// Keep a secret for one's own calls. Its value is sent once, and stays nowhere on the page.

import { explain, send } from "./api.js";
import { it } from "./dom.js";
import "./removing.js";

/** Send the secret, and show the page with it. */
async function keep() {
  const [name, value] = [it("secret-name"), it("secret-value")];
  const trouble = it("secret-error");
  trouble.textContent = "";
  try {
    await send(`secrets/${encodeURIComponent(name.value.trim())}`, { method: "PUT", body: { value: value.value } });
    value.value = "";
    location.assign(location.pathname);
  } catch (error) {
    trouble.textContent = explain(error);
    name.focus();
  }
}

const form = it("keep");
if (form !== null) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep();
  });
}
