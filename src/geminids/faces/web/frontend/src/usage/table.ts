/** Rows behind a picture: shown as a table, and saved as CSV. */
import { NOT_RECORDED } from "../lib/numbers";

export type Cell = string | number | null;

export interface Column<Row> {
  name: string;
  /** As it stands in the file; null is what nobody recorded. */
  value: (row: Row) => Cell;
  /** As people read it, where that differs. */
  said?: (row: Row) => string;
  isNumber?: boolean;
}

export function saidIn<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row);
  if (value === null) return NOT_RECORDED;
  return column.said ? column.said(row) : String(value);
}

/** As RFC 4180 has it: for spreadsheets too, which take some words for formulas. */
export function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map((column) => written(column.name)), ...rows.map((row) => columns.map((column) => written(column.value(row))))];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

export function save(name: string, text: string): void {
  const link = document.createElement("a");
  // The mark tells spreadsheets that it is UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function written(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
