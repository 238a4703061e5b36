import type { RetentionRule } from "./api-types";
import { counted } from "./numbers";

/** What an agent deletes by itself. */
export function habitOf({ days, most }: RetentionRule): string {
  const said = [
    ...(days === null ? [] : [`what was not used for ${counted(days, "day")}`]),
    ...(most === null ? [] : [`what is older than the newest ${most}`]),
  ];
  return `deletes ${said.join(" and ") || "nothing by itself"}`;
}
