/** Light or dark: as the system has it, unless somebody chose. */
import { writable } from "svelte/store";

export type Theme = "system" | "light" | "dark";

const STORED = "geminids-theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = writable<Theme>("system");

/** Show the theme that was chosen last, before anything is drawn. */
export function startTheme(): void {
  theme.set(stored());
  theme.subscribe((chosen) => {
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    remember(chosen);
  });
}

export function nextTheme(now: Theme): Theme {
  return THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "system";
}

function stored(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(STORED)) ?? "system";
  } catch {
    return "system";
  }
}

function remember(chosen: Theme): void {
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // A browser that stores nothing shows it until it is closed.
  }
}
