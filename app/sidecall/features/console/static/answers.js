// Show what the API answers: messages of tools, problems, and calls that wait. All of it as text, whatever is in it.

import { address, explain, Refusal } from "./api.js";
import { make } from "./dom.js";
import { stringify } from "./json.js";
import { showPlain, showText, showTree } from "./tree.js";

// Kinds of images that run nothing.
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif)$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Make a sign: a word in a colour. */
export function makeSign(text, kind = "") {
  return make("span", { class: `sign ${kind}` }, text);
}

/** Show the message of a tool: how it went, what it says, and what came with it. */
export function showMessage(message) {
  const failed = message.status === "error";
  const told = message.response_metadata ?? {};
  const took = told.duration_ms === undefined ? "" : `${Math.round(Number(stringify(told.duration_ms)) * 10) / 10} ms`;
  const signs = [makeSign(failed ? "error" : "success", failed ? "bad" : "good")];
  if (told.error?.kind) signs.push(makeSign(told.error.kind));
  if (told.truncated) signs.push(makeSign("cut", "warn"));
  const box = make(
    "div",
    { class: "stack" },
    make("p", { class: "line" }, ...signs, make("span", { class: "quiet" }, took)),
  );
  box.append(...showContent(message.content));
  if (message.artifact !== null && message.artifact !== undefined) {
    box.append(make("h3", {}, "Artifact"), showTree(message.artifact, { name: "artifact" }));
  }
  if (told.artifact_url) box.append(makeWhole(told.artifact_url));
  box.append(...showNotes(told));
  return box;
}

function makeWhole(url) {
  const path = url.replace(/^.*\/contents\//, "contents/");
  return make("p", {}, make("a", { href: address(path), download: "answer" }, "The whole answer"));
}

function showContent(content) {
  if (typeof content === "string") return [showString(content)];
  if (!Array.isArray(content)) return [showTree(content, { name: "answer" })];
  return content.map(showBlock);
}

function showString(text) {
  if (text === "") return make("p", { class: "quiet" }, "An empty text.");
  const isData = /^\s*[[{]/.test(text);
  if (!isData) return showPlain(text);
  const tree = showText(text, { name: "answer" });
  const whole = make("details", {}, make("summary", {}, "As text"));
  whole.addEventListener("toggle", () => whole.children.length === 1 && whole.append(showPlain(text)));
  return make("div", {}, tree, whole);
}

function showBlock(block) {
  if (block?.type === "text" && typeof block.text === "string") return showString(block.text);
  const source = findImage(block);
  return source === null
    ? showTree(block, { name: "part of the answer" })
    : make("img", { src: source, alt: "An image that the tool answered" });
}

/** Return the address of an image within the answer itself; null for anything else. */
function findImage(block) {
  const kind = block?.mime_type ?? block?.mimeType ?? block?.source?.media_type;
  const data = block?.base64 ?? block?.data ?? block?.source?.data;
  const isOne = IMAGES.test(kind) && typeof data === "string" && BASE64.test(data);
  return isOne ? `data:${kind};base64,${data}` : null;
}

function showNotes(told) {
  const notes = [];
  if (told.ignored_args?.length) notes.push(`Ignored: ${told.ignored_args.join(", ")}`);
  if (told.repaired?.length)
    notes.push(`Repaired: ${told.repaired.map((it) => (typeof it === "string" ? it : stringify(it))).join(", ")}`);
  return notes.map((text) => make("p", { class: "quiet" }, text));
}

/** Show what a check without running says. */
export function showCheck(found) {
  const box = make("div", { class: "stack" });
  box.append(
    make("p", { class: "line" }, found.would_run ? makeSign("would run", "good") : makeSign("would not run", "bad")),
  );
  if (found.requires_approval) box.append(make("p", {}, "A person would be asked first."));
  if (found.sign_in) box.append(make("p", {}, "Somebody would have to sign in first."));
  if (found.preview !== null && found.preview !== undefined) {
    box.append(make("h3", {}, "What it would do"), ...showContent(found.preview));
  }
  if (found.preview_error) box.append(make("p", { class: "error" }, found.preview_error));
  if (found.message) box.append(showMessage(found.message));
  if (found.args) box.append(make("h3", {}, "With these arguments"), showTree(found.args, { name: "arguments" }));
  box.append(...showNotes(found));
  return box;
}

/** Show that a call waits for a person. */
export function showWaiting(approval) {
  const link = make(
    "a",
    { href: address(`console/approvals/${encodeURIComponent(approval.id)}`) },
    "Open the approval",
  );
  const words = approval.sign_in
    ? "It waits until somebody has signed in."
    : "It waits until a person has approved it.";
  return make(
    "div",
    { class: "stack" },
    make("p", { class: "line" }, makeSign("waits", "warn")),
    make("p", {}, words),
    make("p", {}, link),
  );
}

/** Show why something did not work. */
export function showFailure(error) {
  const box = make("div", { class: "box bad", role: "alert" }, make("p", {}, explain(error)));
  const problem = error instanceof Refusal ? error.problem : {};
  if (error instanceof Refusal && error.status === 401) {
    box.append(
      make(
        "p",
        {},
        make("a", { href: address("console/session"), target: "_blank", rel: "noopener" }, "Log in in another tab"),
      ),
    );
  }
  if (problem.retry_after) box.append(make("p", {}, `Try again in ${stringify(problem.retry_after)} seconds.`));
  for (const it of (problem.errors ?? []).slice(0, 20)) {
    box.append(make("p", { class: "error" }, `${(it.loc ?? []).join(".")}: ${it.msg ?? ""}`));
  }
  if (problem.instance) box.append(make("p", { class: "quiet" }, `Request ${problem.instance}`));
  return box;
}
