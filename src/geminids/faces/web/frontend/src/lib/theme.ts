/** Light or dark: as the system has it, unless somebody chose. */
import { writable } from "svelte/store";

import { choose, chosen } from "./choices";

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];
export const THEME_NAMES: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

export const theme = writable<Theme>("system");

/** Show the theme that was chosen last, before anything is drawn. */
export function startTheme(): void {
  theme.set(THEMES.find((one) => one === chosen("theme")) ?? "system");
  theme.subscribe((now) => {
    if (now === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    choose("theme", now === "system" ? null : now);
  });
}

export function nextTheme(now: Theme): Theme {
  return THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "system";
}
