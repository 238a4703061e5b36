// The list of sessions: filter and order.
const body = document.querySelector("#sessions tbody");
const rows = [...body.rows].map((row) => ({ row, words: row.innerText }));
const box = byId("filter"), count = byId("count");
const filter = () => {
  const wanted = box.value.trim() ? pattern(box.value) : null;
  let shown = 0;
  for (const { row, words } of rows) {
    row.hidden = wanted !== null && words.search(wanted) < 0;
    shown += row.hidden ? 0 : 1;
  }
  count.textContent = wanted ? `${shown} of ${rows.length}` : "";
};
box.addEventListener("input", filter);
const headings = [...document.querySelectorAll("#sessions th")];
const keyOf = (row, at) => row.cells[at].dataset.key ?? row.cells[at].textContent;
const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
headings.forEach((heading, at) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = heading.textContent;
  heading.replaceChildren(button);
  button.addEventListener("click", () => {
    const startsDown = at === 0 || heading.classList.contains("number");
    const isDown = heading.ariaSort ? heading.ariaSort === "ascending" : startsDown;
    headings.forEach((other) => { other.ariaSort = null; });
    heading.ariaSort = isDown ? "descending" : "ascending";
    rows.sort((a, b) => order.compare(keyOf(a.row, at), keyOf(b.row, at)) * (isDown ? -1 : 1));
    body.append(...rows.map(({ row }) => row));
  });
});
headings[0].ariaSort = "descending";
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && box.value) { box.value = ""; filter(); box.blur(); }
  else if (event.key === "/" && !event.target.closest?.("input")) { event.preventDefault(); box.focus(); }
});
