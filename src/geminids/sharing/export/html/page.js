// What all pages share: the tools, which are of no use without a script, and the theme.
"use strict";
const byId = (id) => document.getElementById(id);
const root = document.documentElement;
document.querySelector(".tools").hidden = false;
// A browser may refuse to remember anything for a file.
try { root.dataset.theme = localStorage.getItem("geminids-theme") || ""; } catch { root.dataset.theme = ""; }
byId("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try { localStorage.setItem("geminids-theme", root.dataset.theme); } catch { /* then only for now */ }
});
// The words of a query in any case, with any blanks between them.
const pattern = (query) => new RegExp(
  query.trim().split(/\s+/u).map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&")).join("\\s+"), "giu");
