// Folds, the way from prompt to prompt, and the search.
const story = byId("story");
const folds = () => story.querySelectorAll("details");
byId("open").addEventListener("click", () => folds().forEach((fold) => { fold.open = true; }));
byId("close").addEventListener("click", () => folds().forEach((fold) => { fold.open = false; }));
const outline = document.querySelector(".outline details");
if (matchMedia("(max-width: 60rem)").matches) outline.open = false;

const prompts = [...story.querySelectorAll(".turn.human, .turn.parent")];
const links = new Map([...outline.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const EDGE = 90;
// How many prompts begin above the upper edge of what is seen.
const begun = () => {
  let low = 0, high = prompts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (prompts[middle].getBoundingClientRect().top <= EDGE) low = middle + 1; else high = middle;
  }
  return low;
};
const goTo = (prompt) => {
  if (!prompt) return;
  prompt.scrollIntoView();
  prompt.tabIndex = -1;
  prompt.focus({ preventScroll: true });
};
const isSeen = (prompt) => {
  const { top, bottom } = prompt.getBoundingClientRect();
  return bottom > EDGE && top < innerHeight;
};
const step = (by) => {
  // The last prompts may be too near to the end to come to the top; then the one that was gone to counts.
  const held = prompts.indexOf(document.activeElement);
  if (held >= 0 && isSeen(prompts[held])) return goTo(prompts[held + by]);
  const at = begun() - 1;
  return goTo(prompts[by > 0 || (at >= 0 && isSeen(prompts[at])) ? at + by : at]);
};
let marked = null;
const markCurrent = () => {
  const current = links.get(prompts[Math.max(begun() - 1, 0)]?.id);
  if (current === marked) return;
  marked?.removeAttribute("aria-current");
  current?.setAttribute("aria-current", "true");
  marked = current;
};
let isDue = false;
addEventListener("scroll", () => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; markCurrent(); });
}, { passive: true });
markCurrent();

const box = byId("search"), count = byId("count");
const MOST = 2000;
let hits = [], here = -1, opened = [];
// The letters of a turn with the node that each stands in: a match may begin in one node and end in another.
const lettersOf = (turn) => {
  const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("svg, .turn > header") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [], starts = [];
  let text = "";
  while (walker.nextNode()) {
    nodes.push(walker.currentNode);
    starts.push(text.length);
    text += walker.currentNode.data;
  }
  return { nodes, starts, text };
};
const placeOf = ({ nodes, starts }, at, isEnd) => {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isEnd ? starts[middle] < at : starts[middle] <= at) low = middle; else high = middle - 1;
  }
  return [nodes[low], at - starts[low]];
};
const rangeOf = (letters, start, end) => {
  const range = new Range();
  range.setStart(...placeOf(letters, start, false));
  range.setEnd(...placeOf(letters, end, true));
  return range;
};
const foldsAround = (range) => {
  const found = [];
  for (let at = range.startContainer.parentElement.closest("details"); at; at = at.parentElement.closest("details")) found.push(at);
  return found;
};
const clear = () => {
  opened.forEach((fold) => { fold.open = false; });
  hits = []; opened = []; here = -1;
  links.forEach((link) => { delete link.dataset.hits; });
  globalThis.CSS?.highlights?.clear();
  count.textContent = "";
};
const show = (at) => {
  if (!hits.length) return;
  here = (at + hits.length) % hits.length;
  const range = hits[here];
  if (globalThis.CSS?.highlights) CSS.highlights.set("here", new Highlight(range));
  const { top, bottom } = range.getBoundingClientRect();
  if (top < EDGE || bottom > innerHeight - 40) scrollBy(0, top - innerHeight / 3);
  count.textContent = `${here + 1} of ${hits.length}${hits.length === MOST ? "+" : ""}`;
};
const search = () => {
  clear();
  if (!box.value.trim()) return;
  const wanted = pattern(box.value);
  let prompt = null;
  for (const turn of story.querySelectorAll(".turn")) {
    if (turn.matches(".human, .parent")) prompt = links.get(turn.id);
    const letters = lettersOf(turn);
    const found = [...letters.text.matchAll(wanted)].slice(0, MOST - hits.length);
    for (const match of found) hits.push(rangeOf(letters, match.index, match.index + match[0].length));
    if (prompt && found.length) prompt.dataset.hits = Number(prompt.dataset.hits || 0) + found.length;
  }
  for (const fold of new Set(hits.flatMap(foldsAround))) {
    if (!fold.open) { fold.open = true; opened.push(fold); }
  }
  if (globalThis.CSS?.highlights) CSS.highlights.set("hits", new Highlight(...hits));
  if (hits.length) show(0); else count.textContent = "no match";
};
let waiting = 0;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
byId("next").addEventListener("click", () => show(here + 1));
byId("previous").addEventListener("click", () => show(here - 1));
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); show(here + (event.shiftKey ? -1 : 1)); }
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && (hits.length || box.value)) { box.value = ""; clear(); box.blur(); return; }
  if (event.target.closest?.("input")) return;
  if (event.key === "/") { event.preventDefault(); box.focus(); box.select(); }
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
});
