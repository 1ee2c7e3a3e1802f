// Narrow a list while its reader types; what is not in the list is found by the server, with Enter.

const field = document.querySelector("[data-find-rows]");
const rows = [...(document.getElementById(field?.dataset.findRows)?.children ?? [])];
const count = document.getElementById(`${field?.dataset.findRows}-count`);
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
const said = count?.textContent;

/** Show the rows that have all the words. */
function narrow() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !words.every((word) => texts.get(row).includes(word));
    shown += row.hidden ? 0 : 1;
  }
  if (count)
    count.textContent = words.length === 0 ? said : `${shown} of ${rows.length} shown here; Enter looks through all`;
}

field?.addEventListener("input", narrow);
