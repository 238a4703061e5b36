/** Questions to the server. What goes wrong is a value too, with the sentence that the server said. */
import type { Candidate, Changing, FaultyRequest, Readable } from "./api-types";
import { hidesSecrets } from "./redaction";

export type Path = keyof Readable;
export type Asked<P extends Path> = Readable[P]["asked"];
export type Answer<P extends Path> = Readable[P]["answer"];

export interface Fault {
  /** Of HTTP; 0 if the server could not be reached. */
  status: number;
  title: string;
  /** What, where and what to do. */
  sentence: string;
  /** Sessions that may have been meant. */
  candidates: Candidate[];
  /** Whether we gave up ourselves: nothing to show then. */
  isAborted: boolean;
}

export type Result<T> = { ok: true; value: T } | { ok: false; fault: Fault };

type Value = string | number | boolean | null | undefined | readonly (string | number)[];

const TOKEN_HEADER = "x-geminids-token";

/** The address of a question: for links, pictures and downloads. */
export function addressOf<P extends Path>(path: P, asked: Asked<P>): string {
  return addressWith(path, { ...(asked as Record<string, Value>), redact: hidesSecrets || ("redact" in asked && asked.redact === true) });
}

/** Ask something. Aborting gives a fault that says so. */
export function ask<P extends Path>(path: P, asked: Asked<P>, signal?: AbortSignal): Promise<Result<Answer<P>>> {
  return fetched(addressOf(path, asked), { signal: signal ?? null }, inJson<Answer<P>>);
}

/** Ask for what is answered in plain words. */
export function askForWords<P extends Path>(path: P, asked: Asked<P>): Promise<Result<string>> {
  return fetched(addressOf(path, asked), {}, (response) => response.text());
}

/** Do something that changes something; the token is that of `/api/about`. */
export function change<P extends keyof Changing>(path: P, token: string): Promise<Result<Changing[P]["answer"]>> {
  return fetched(path, { method: "POST", headers: { [TOKEN_HEADER]: token } }, inJson<Changing[P]["answer"]>);
}

function addressWith(path: string, asked: Record<string, Value>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    if (typeof value === "object") value.forEach((one) => words.append(name, String(one)));
    else words.append(name, String(value));
  }
  const written = words.toString();
  return written ? `${path}?${written}` : path;
}

async function inJson<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

async function fetched<T>(address: string, how: RequestInit, read: (response: Response) => Promise<T>): Promise<Result<T>> {
  try {
    const response = await fetch(address, { ...how, credentials: "same-origin" });
    if (response.ok) return { ok: true, value: await read(response) };
    return { ok: false, fault: await faultOf(response) };
  } catch (error) {
    return { ok: false, fault: unreached(error) };
  }
}

async function faultOf(response: Response): Promise<Fault> {
  const said = await response.json().catch(() => null);
  const fault: Fault = {
    status: response.status,
    title: response.statusText,
    sentence: response.status === 401 ? STALE : `The server answered ${response.status}.`,
    candidates: [],
    isAborted: false,
  };
  if (!isFaultyRequest(said)) return fault;
  const sentence = response.status === 401 ? STALE : said.detail;
  return { ...fault, title: said.title, sentence, candidates: said.candidates ?? [] };
}

const STALE = "This page belongs to an earlier start of the server. Open the address that was printed last.";
const UNREACHED = "The server does not answer. Is it still running?";

function unreached(error: unknown): Fault {
  const isAborted = error instanceof DOMException && error.name === "AbortError";
  return { status: 0, title: "No answer", sentence: UNREACHED, candidates: [], isAborted };
}

function isFaultyRequest(said: unknown): said is FaultyRequest {
  return typeof said === "object" && said !== null && "detail" in said && "title" in said;
}
