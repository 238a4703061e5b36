/** Keys: layers of them, the uppermost first. A sheet over the page takes all keys for itself. */

export type Keys = Record<string, (event: KeyboardEvent) => void>;

interface Layer {
  keys: Keys;
  isAlone: boolean;
}

const layers: Layer[] = [];

/** Listen to keys: `j`, `?`, `Enter`, `mod+k` (Ctrl or Cmd). Gives what ends it. */
export function listenToKeys(keys: Keys, { isAlone = false } = {}): () => void {
  const layer = { keys, isAlone };
  const sheet = layers.findIndex((one) => one.isAlone);
  // A view may come while a sheet is open: it comes below, else it would take the key that closes the sheet.
  if (isAlone || sheet < 0) layers.push(layer);
  else layers.splice(sheet, 0, layer);
  if (layers.length === 1) document.addEventListener("keydown", heard);
  return () => {
    if (!layers.includes(layer)) return;
    layers.splice(layers.indexOf(layer), 1);
    if (layers.length === 0) document.removeEventListener("keydown", heard);
  };
}

/** What the key beside the space bar is called here. */
export const MOD = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

function heard(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  if (isTyping(event.target) && !name.startsWith("mod+") && name !== "Escape") return;
  // Enter and the space bar belong to whatever has the focus.
  if ((name === "Enter" || name === " ") && isControl(event.target)) return;
  for (const layer of layers.toReversed()) {
    const act = layer.keys[name];
    if (act) {
      event.preventDefault();
      act(event);
      return;
    }
    if (layer.isAlone) return;
  }
}

function nameOf(event: KeyboardEvent): string {
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`;
  return event.altKey ? `alt+${event.key}` : event.key;
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button, summary, [role=button]") !== null;
}
