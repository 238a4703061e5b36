/** The time, told again and again: for words such as "2 min ago", and for what ends by itself. */
import { readable, type Readable } from "svelte/store";

const STEP = 20_000;

export const now: Readable<Date> = readable(new Date(), (set) => {
  set(new Date());
  const timer = setInterval(() => set(new Date()), STEP);
  return () => clearInterval(timer);
});
