/** The colours of tokens.css as they are now, light or dark: pictures that a library draws need them as values. */
import { readable } from "svelte/store";

export type Ink = (name: string) => string;

/** Another one whenever the theme changes. */
export const ink = readable<Ink>(inkNow(), (set) => {
  const look = () => set(inkNow());
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(look);
  dark.addEventListener("change", look);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  look();
  return () => {
    dark.removeEventListener("change", look);
    chosen.disconnect();
  };
});

function inkNow(): Ink {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name) ?? resolved(name);
    known.set(name, found);
    return found;
  };
}

function resolved(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
