/** What somebody chose for this page, such as its colours. It outlives the server: each start of it has another port,
 *  which browsers tell apart in their stores, but not in cookies. */

const NAME = "geminids-chose-";
const YEAR = 365 * 24 * 3600;

export function chosen(name: string): string | null {
  const begin = `${NAME}${name}=`;
  const found = document.cookie.split("; ").find((one) => one.startsWith(begin));
  return found === undefined ? null : decodeURIComponent(found.slice(begin.length));
}

/** Null takes it back. */
export function choose(name: string, value: string | null): void {
  const age = value === null ? 0 : YEAR;
  document.cookie = `${NAME}${name}=${encodeURIComponent(value ?? "")}; path=/; max-age=${age}; samesite=strict`;
}
