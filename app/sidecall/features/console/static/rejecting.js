// Reject several calls with one reason. Nothing approves several: each has its own arguments to read.

import { ask, explain } from "./api.js";
import { it, make, makeButton } from "./dom.js";
import { count, showCount } from "./waits.js";

const list = document.querySelector(".listing");

function listChosen() {
  return [...list.querySelectorAll("input:checked")];
}

function addBox(row, number) {
  const link = row.querySelector("a");
  const id = `chosen-${number}`;
  const label = make("label", { for: id }, make("span", { class: "off" }, `Reject ${link.dataset.name}`));
  row.prepend(make("span", {}, make("input", { type: "checkbox", id, value: link.dataset.call }), label));
  row.querySelector("input").dataset.question = link.dataset.question;
}

/** Reject one, and return why that did not work; null where it did. */
async function reject(box, reason) {
  const body = { decision: "reject", question: Number(box.dataset.question), ...(reason === "" ? {} : { reason }) };
  try {
    await ask(`approvals/${encodeURIComponent(box.value)}`, { method: "POST", body });
    box.closest("li").remove();
    return null;
  } catch (error) {
    return explain(error);
  }
}

async function rejectChosen(boxes, reason, state) {
  const failed = [];
  for (const box of boxes) {
    const why = await reject(box, reason);
    if (why !== null) failed.push(why);
  }
  const done = boxes.length - failed.length;
  state.textContent = [`${done} rejected.`, ...new Set(failed)].join(" ");
  const { total } = await count("status=pending&limit=1").catch(() => ({}));
  if (total !== undefined) showCount(total);
}

/** Put a box before each call, and let a person reject those that are ticked. */
export function chooseSeveral(opener) {
  const reason = make("textarea", { id: "reason", rows: 2, maxlength: 10_000, "aria-describedby": "reason-hint" });
  const state = make("p", { role: "status" });
  const button = make("button", { class: "danger", disabled: true }, "Reject");
  const close = () => {
    form.remove();
    for (const box of list.querySelectorAll("li > span:first-child")) box.remove();
    list.classList.remove("choosing");
    opener.hidden = false;
    opener.focus();
  };
  const form = make(
    "form",
    { class: "box stack" },
    make(
      "div",
      { class: "entry" },
      make("label", { for: "reason" }, "Your reason for all of them"),
      reason,
      make("p", { class: "hint", id: "reason-hint" }, "Models read it. Tick the calls that you reject."),
    ),
    make("div", { class: "steps" }, button, makeButton("Leave it", "Leave it", close, "plain")),
    state,
  );
  const showChosen = () => {
    const { length } = listChosen();
    button.disabled = length === 0;
    button.textContent = length === 0 ? "Reject" : `Reject ${length}`;
  };
  for (const [number, row] of [...list.children].entries()) addBox(row, number);
  list.classList.add("choosing");
  list.addEventListener("change", showChosen);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    await rejectChosen(listChosen(), reason.value.trim(), state);
    showChosen();
    if (list.children.length === 0) it("main").focus();
  });
  opener.hidden = true;
  list.before(form);
  reason.focus();
}
