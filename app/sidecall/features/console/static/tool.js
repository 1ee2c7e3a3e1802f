// The page of a tool: a form for its arguments, and what is done with them, which comes when it is first wanted.

import { Arguments } from "./arguments.js";
import { it } from "./dom.js";
import { parse } from "./json.js";

const told = parse(it("tool-data").textContent);
const isGiven = told.given.length > 0 || told.readsState;
const args = new Arguments(told, isGiven ? (await import("./state_and_context.js")).makeGiven(told) : null);

const trying = () => import("./trying.js");
const offering = () => import("./offering.js");
const filled = () => import("./form_submission.js");

/** Do something with the arguments, by a function of a module that is loaded for it. */
async function act(load, name, ...given) {
  try {
    const actions = await load();
    await actions[name](args, ...given);
  } catch {
    it("state").textContent = "The server cannot be reached. What you have filled in stays; try again.";
  }
}

function listen(id, event, name) {
  it(id).addEventListener(event, (happened) => {
    happened.preventDefault();
    act(trying, name);
  });
}

// It is fetched with the first sign of a person, so that nothing waits for it.
for (const sign of ["pointermove", "pointerdown", "keydown"])
  addEventListener(sign, () => trying().catch(() => null), { once: true });
listen("call", "submit", "call");
listen("check", "click", "check");
listen("background", "click", "runAsJob");
listen("cancel", "click", "cancel");
it("clear").addEventListener("click", () => act(filled, "clear"));
it("copying").addEventListener("toggle", () => act(offering, "listCopies"));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && it("call").contains(event.target)) {
    event.preventDefault();
    it("call").requestSubmit();
  }
});
for (const link of document.querySelectorAll("[data-form]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // What is filled in stays.
    act(offering, "define", link);
  });
}
it("definition").addEventListener("toggle", () => {
  if (it("definition").open && it("definition").querySelector("[aria-current]") === null)
    act(offering, "define", it("definition").querySelector("[data-form]"));
});
it("try").hidden = false;
if (matchMedia("(min-width: 900px)").matches && !location.hash.startsWith("#definition")) args.enter();
