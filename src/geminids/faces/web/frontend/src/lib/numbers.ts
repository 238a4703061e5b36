/** Numbers as people read them. What nobody recorded is a dash, or said so where there is room. */

const WHOLE = new Intl.NumberFormat("en-GB");
export const UNKNOWN = "–";
export const NOT_RECORDED = "not recorded";

/** `1,234`. */
export function whole(number: number | null): string {
  return number === null ? UNKNOWN : WHOLE.format(number);
}

/** `934`, `12.3k`, `1.2M`. */
export function short(number: number | null): string {
  if (number === null) return UNKNOWN;
  if (Math.abs(number) < 1000) return String(Math.round(number));
  for (const [unit, name] of [[1e3, "k"], [1e6, "M"], [1e9, "G"]] as const) {
    const scaled = number / unit;
    if (Math.abs(scaled) < 99.95) return `${scaled.toFixed(1).replace(/\.0$/, "")}${name}`;
    if (Math.abs(scaled) < 999.5) return `${Math.round(scaled)}${name}`;
  }
  return WHOLE.format(number);
}

/** `$0.04`, `$12.30`, `$1,234`. */
export function dollars(cost: number | null): string {
  if (cost === null) return UNKNOWN;
  if (cost > 0 && cost < 0.01) return "< $0.01";
  return cost < 1000 ? `$${cost.toFixed(2)}` : `$${WHOLE.format(Math.round(cost))}`;
}

const SIZES = ["kB", "MB", "GB", "TB"];

/** `934 bytes`, `12.3 kB`, `3.4 MB`: as the terminal says it. */
export function bytes(number: number | null): string {
  if (number === null) return UNKNOWN;
  if (number < 1000) return counted(number, "byte");
  let [amount, unit] = [number, -1];
  while (amount >= 999.95 && unit < SIZES.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount.toFixed(1)} ${SIZES[unit]}`;
}

export function percent(part: number | null): string {
  return part === null ? UNKNOWN : `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
}

/** `1 session`, `2 sessions`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${whole(number)} ${number === 1 ? one : many}`;
}

/** The sum of what was recorded; null if nothing was. */
export function summed(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length ? known.reduce((sum, number) => sum + number, 0) : null;
}
