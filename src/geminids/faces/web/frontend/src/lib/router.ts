/** Where the page is: a view by the path, what it shows by the query. Links are ordinary links. */
import { readable, type Readable } from "svelte/store";

import type { ProjectName } from "./api-types";

export type View = "home" | "sessions" | "session" | "search" | "usage" | "projects" | "health" | "nowhere";

export interface Place {
  view: View;
  /** Of the session that is shown. */
  id: string | null;
  path: string;
  query: URLSearchParams;
  /** Without the `#`. */
  anchor: string;
}

const VIEWS: Record<string, View> = {
  "/": "home",
  "/sessions": "sessions",
  "/search": "search",
  "/usage": "usage",
  "/projects": "projects",
  "/health": "health",
};
/** Told when this page itself goes elsewhere; the browser tells of going back. */
export const MOVED = "geminids:moved";

export const place: Readable<Place> = readable(here(), (set) => {
  const look = () => set(here());
  window.addEventListener("popstate", look);
  window.addEventListener("hashchange", look);
  window.addEventListener(MOVED, look);
  return () => {
    window.removeEventListener("popstate", look);
    window.removeEventListener("hashchange", look);
    window.removeEventListener(MOVED, look);
  };
});

/** Go to an address of this page. */
export function go(address: string, { replace = false } = {}): void {
  const before = location.pathname;
  if (replace) history.replaceState(history.state, "", address);
  else history.pushState({ entry: `${Date.now()}-${history.length}` }, "", address);
  if (location.pathname !== before && !location.hash) window.scrollTo(0, 0);
  window.dispatchEvent(new Event(MOVED));
}

/** Change words of the query and keep the others; null and empty take one away. */
export function goWith(words: Record<string, string | null>, { replace = true } = {}): void {
  go(withQuery(location.pathname, changed(words)) + location.hash, { replace });
}

/** The query as it would be with other words. */
export function changed(words: Record<string, string | null>): URLSearchParams {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(words)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return query;
}

export function withQuery(path: string, query: URLSearchParams): string {
  const written = query.toString();
  return written ? `${path}?${written}` : path;
}

/** The address of a session, or of one of its messages; `find` are words to be looked for in it. */
export function sessionAddress(id: string, message?: number | null, find?: string): string {
  const query = new URLSearchParams(find ? { find } : {});
  return withQuery(`/sessions/${encodeURIComponent(id)}`, query) + (message ? `#${message}` : "");
}

/** The sessions of a project, which is told by what is known of it or by its key. */
export function projectAddress(project: ProjectName | string): string {
  const key = typeof project === "string" ? project : project.key || project.name;
  return withQuery("/sessions", new URLSearchParams({ project: key }));
}

export function searchAddress(words: string): string {
  return words ? withQuery("/search", new URLSearchParams({ q: words })) : "/search";
}

/** Follow links to this page without loading it anew. Gives what ends it. */
export function followLinks(): () => void {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname.startsWith("/api/") || link.getAttribute("href")?.startsWith("#")) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  };
  document.addEventListener("click", follow);
  return () => document.removeEventListener("click", follow);
}

function here(): Place {
  const path = location.pathname.replace(/(.)\/+$/, "$1");
  const query = new URLSearchParams(location.search);
  const anchor = location.hash.slice(1);
  const named = /^\/sessions\/(.+)$/.exec(path)?.[1];
  if (named) return { view: "session", id: decoded(named), path, query, anchor };
  return { view: VIEWS[path] ?? "nowhere", id: null, path, query, anchor };
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
