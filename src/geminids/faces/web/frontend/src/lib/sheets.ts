/** Sheets over the page: all keys are theirs until they are closed, in whichever way. */
import { listenToKeys } from "./keys";

export class OpenSheet {
  readonly #sheet: HTMLDialogElement;
  readonly #onclose: () => void;
  #isClosed = false;
  /** What ends listening to keys. */
  readonly end: () => void;

  /** Open a sheet. The browser keeps the focus inside, and gives it back. */
  constructor(sheet: HTMLDialogElement, onclose: () => void, closingKeys: string[]) {
    this.#sheet = sheet;
    this.#onclose = onclose;
    sheet.showModal();
    const keys = Object.fromEntries(closingKeys.map((key) => [key, () => this.close()]));
    this.end = listenToKeys(keys, { isAlone: true });
  }

  /**
   * Close it at once. The browser tells that a dialog was closed only some moments later; a key that is pressed
   * until then belongs to the page already.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.end();
    this.#sheet.close();
    // Where nothing had the focus before, a box in the sheet keeps it until all is drawn anew.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && this.#sheet.contains(focused)) focused.blur();
    this.#onclose();
  }
}
