// Made by scripts/api-types.mjs of the OpenAPI document of the server. Not to be edited.

/** What a page needs to know before anything else. */
export interface About {
  version: string;
  agents: Record<string, string>;
  formats: FormatLine[];
  levels: Record<string, string>;
  filters: string[];
  filter_notes: FilterNote[];
  homes: string[];
  is_sample: boolean;
  is_sample_instead: boolean;
  is_redacted: boolean;
  running_seconds: number;
  token: string;
  syncing: SyncState;
}

/** A format of an export. */
export interface FormatLine {
  name: string;
  title: string;
  summary: string;
  suffix: string;
}

/** What a filter means, for a box that completes what is being typed. */
export interface FilterNote {
  name: string;
  note: string;
  values: Record<string, string>;
}

/** How the index stands. */
export interface SyncState {
  is_running: boolean;
  is_first: boolean;
  is_empty: boolean | null;
  read: number | null;
  total: number | null;
  at: string | null;
  said: string[];
  to_come: number;
}

/** What there is at a glance. */
export interface Overview {
  sessions: number;
  checkpoints: number;
  lost: number;
  subagents: number;
  kept: number;
  prompts: number;
  first_day: string | null;
  agents: AgentCounts[];
  days: DayActivity[];
  total: UsedTokens;
  newest: SessionLine[];
  suggestion: string | null;
  is_sample: boolean;
  unreadable: number;
  incomplete: number;
}

/** How much there is of one agent. */
export interface AgentCounts {
  agent: string;
  title: string;
  sessions: number;
  subagents: number;
  prompts: number | null;
  calls: number | null;
  tokens: UsedTokens | null;
}

/** Requests and what they used. `input` is the whole prompt: its parts are the three that follow. */
export interface UsedTokens {
  requests: number;
  unmeasured: number;
  input: number | null;
  fresh: number | null;
  cached: number | null;
  cache_write: number | null;
  cache_write_hour: number | null;
  output: number | null;
  thoughts: number | null;
  tool: number | null;
  total: number | null;
  cost: number | null;
  unpriced: number;
}

/** What was done on a day, in local time. */
export interface DayActivity {
  day: string;
  sessions: number;
  prompts: number;
  active: number;
  calls: number;
  tokens: UsedTokens;
}

/** A session in a list. */
export interface SessionLine {
  id: string;
  agent: string;
  kind: SessionKind;
  parent_id: string | null;
  project: ProjectName;
  title: string | null;
  name: string | null;
  tags: string[];
  status: Status;
  started_at: string | null;
  ended_at: string | null;
  is_running: boolean;
  counts: Counts;
  problems: number;
  kept: boolean;
  incomplete: boolean;
}

/** Whom the session serves, or what is left of it. */
export type SessionKind = "checkpoint" | "copy" | "lost" | "main" | "subagent";

/** The folder of a session, as far as it is known. */
export interface ProjectName {
  key: string;
  name: string;
  path: string | null;
  hash: string | null;
  slug: string | null;
}

/** How a session seems to have ended: an estimate, which the format does not record. */
export type Status = "cancelled" | "error" | "failure" | "interrupted" | "success";

/** How much there is of what. */
export interface Counts {
  prompts: number;
  replies: number;
  tool_calls: number;
  tool_errors: number;
  dropped: number;
}

/** What agents are going to delete by themselves, the soonest first. */
export interface Forecast {
  within_a_week: number;
  not_kept: number;
  total: number;
  threatened: Threatened[];
  rules: RetentionRule[];
}

/** A file that its agent is going to delete, and the session in it. */
export interface Threatened {
  session_id: string | null;
  title: string | null;
  agent: string;
  project: string | null;
  file: string;
  at: string | null;
  reason: string;
  kept: boolean;
}

/** How long an agent keeps sessions, and how to change that. */
export interface RetentionRule {
  agent: string;
  home: string;
  project: string | null;
  days: number | null;
  most: number | null;
  remedy: string | null;
}

/** A page of sessions. */
export interface Sessions {
  sessions: SessionLine[];
  total: number;
  is_exact: boolean;
  next: string | null;
  hidden: Record<string, number>;
  near: Record<string, string[]>;
}

/** What the sessions of a question have in common, the most frequent first; months in order. */
export interface Facets {
  total: number;
  is_exact: boolean;
  agents: FacetValue[];
  projects: FacetValue[];
  kinds: FacetValue[];
  statuses: FacetValue[];
  months: FacetValue[];
  tags: FacetValue[];
}

/** A value, and how many sessions have it. */
export interface FacetValue {
  key: string;
  name: string;
  sessions: number;
}

/** A page of what was found, the best session first. */
export interface Search {
  sessions: SearchSession[];
  matches: number;
  total: number;
  is_exact: boolean;
  are_all_sessions: boolean;
  searched_sessions: number;
  left_out: string | null;
  hidden: Record<string, number>;
  near: Record<string, string[]>;
  is_spread: boolean;
  unsearched: Unsearched[];
  left: number;
  next: string | null;
}

/** A session in which something was found, with the best of it. */
export interface SearchSession {
  session: SessionLine;
  matches: number;
  hits: SearchHit[];
}

/** A message that was found. */
export interface SearchHit {
  number: number;
  id: string;
  role: Role;
  origin: Origin;
  state: State;
  at: string | null;
  model: string | null;
  tools: string[];
  where: string[];
  pieces: SnippetPiece[];
  is_cut_before: boolean;
  is_cut_after: boolean;
}

/** On whose side of the conversation a message stands. */
export type Role = "assistant" | "system" | "user";

/** Who really made a message or a piece of one, whatever its role says. */
export type Origin = "command" | "human" | "injected" | "model" | "notice" | "shell" | "synthetic" | "tool";

/** Whether the agent still sees a message, or why it no longer does. */
export type State = "cancelled" | "compressed" | "current" | "failed" | "rewound" | "superseded" | "unrecorded";

/** Words of a snippet. */
export interface SnippetPiece {
  text: string;
  is_match: boolean;
}

/** Messages of a session that may match or not: a regular expression took too long in them. */
export interface Unsearched {
  id: string;
  messages: number[];
}

/** A session as it opens: all of it, or its beginning while all of it still is to be read. */
export interface Opening {
  line: SessionLine;
  messages: number;
  story: Story;
  is_whole: boolean;
  facts: SessionFacts | null;
  outline: Outline | null;
  branches: Branch[] | null;
}

/** A window of the story of a session. */
export interface Story {
  id: string;
  detail: string;
  start: number;
  total: number;
  entries: (TurnEntry | PauseEntry | MarkEntry | LeftOutEntry)[];
  stamp: string;
}

/** A message, or what is told of it. */
export interface TurnEntry {
  entry: "turn";
  number: number;
  id: string;
  speaker: string;
  name: string;
  continues: boolean;
  role: Role;
  origin: Origin;
  state: State;
  is_dropped: boolean;
  missing: string | null;
  level: Level | null;
  imported: boolean;
  at: string | null;
  seconds: number | null;
  model: string | null;
  usage: UsedTokens | null;
  parts: (WordsPart | ThoughtPart | PicturePart | FilePart | UnknownPart | ResultPart | CallPart)[];
}

/** How grave a notice is. */
export type Level = "error" | "info" | "warning";

/** Words as they are to be shown: Markdown of a model, or lines as they were typed or printed. */
export interface WordsPart {
  part: "words";
  index: number;
  origin: Origin;
  html: string;
  is_prose: boolean;
  is_cut: boolean;
}

/** A piece of the model's reasoning. */
export interface ThoughtPart {
  part: "thought";
  index: number;
  title: string;
  html: string;
  is_cut: boolean;
}

/** A picture or another attachment; its bytes have an address of their own. */
export interface PicturePart {
  part: "attachment";
  index: number;
  name: string;
  mime_type: string | null;
  address: string | null;
  is_picture: boolean;
}

/** A file that the human pointed at. */
export interface FilePart {
  part: "file";
  index: number;
  path: string;
  text: string | null;
  is_cut: boolean;
}

/** Something that has no name yet, as JSON. */
export interface UnknownPart {
  part: "unrecognised";
  index: number;
  text: string;
  is_cut: boolean;
}

/** What a tool answered, where the agent recorded it as a message of its own. */
export interface ResultPart {
  part: "result";
  index: number;
  title: string;
  output: Output | null;
  pictures: PicturePart[];
}

/** What a tool printed: lines of a terminal in colour where there are any, else plain words. */
export interface Output {
  text: string | null;
  lines: Run[][] | null;
  is_cut: boolean;
}

/** Words of a terminal in one style. */
export interface Run {
  text: string;
  style: string;
}

/** A tool call in a line, and what is behind it. */
export interface CallPart {
  part: "call";
  index: number;
  call_id: string | null;
  name: string;
  kind: ToolKind;
  status: ToolStatus;
  mark: string;
  argument: string;
  added: number | null;
  removed: number | null;
  trouble: string;
  error: string;
  answers: string[];
  handed_back: string;
  child_id: string | null;
  at: string | null;
  seconds: number | null;
  details: CallDetails | null;
}

/** What a tool does, in words that are the same for all agents. */
export type ToolKind = "agent" | "ask" | "edit" | "execute" | "fetch" | "list" | "memory" | "other" | "plan" | "read" | "search";

/** How a call ended. */
export type ToolStatus = "cancelled" | "error" | "pending" | "success" | "unknown";

/** All that is known of a call; told where tools are. */
export interface CallDetails {
  description: string | null;
  arguments: Argument[];
  diffs: FileDiff[];
  output: Output | null;
  todos: Todo[];
  pictures: PicturePart[];
  moved: string | null;
}

/** An argument of a call, in words. */
export interface Argument {
  name: string;
  text: string;
  is_cut: boolean;
  is_in_diff: boolean;
}

/** What a call did to one file. */
export interface FileDiff {
  path: string;
  operation: Operation;
  added: number | null;
  removed: number | null;
  hunks: Hunk[];
  is_cut: boolean;
}

/** What happened to a file. */
export type Operation = "create" | "delete" | "edit";

/** Lines that stand together. */
export interface Hunk {
  heading: string;
  lines: DiffLine[];
}

/** A line of a change. */
export interface DiffLine {
  kind: string;
  old: number | null;
  new: number | null;
  text: string;
}

/** One thing on a list of things to do. */
export interface Todo {
  text: string;
  status: string;
}

/** A long time in which nothing happened. */
export interface PauseEntry {
  entry: "pause";
  seconds: number;
  until: string;
  text: string;
}

/** The place where messages before it were taken out of the agent's view. */
export interface MarkEntry {
  entry: "mark";
  state: State;
  messages: number;
  text: string;
}

/** What was not told at this level of detail, by name. */
export interface LeftOutEntry {
  entry: "left-out";
  counts: Record<string, number>;
  text: string;
}

/** A session without its messages. */
export interface SessionFacts {
  line: SessionLine;
  native_id: string;
  summary: string | null;
  kind_sentence: string;
  branch: string | null;
  models: string[];
  usage: Usage;
  cost: number | null;
  unpriced: number;
  messages: number;
  entries: Record<string, number>;
  children: string[];
  files: SessionFile[];
  beside: Beside[];
  problems: Problem[];
  notes: NoteLine[];
  redacted: string | null;
}

/**
 * What one request, or a sum of requests, used. What was not recorded is None, never 0.
 *
 * `input` is the whole prompt; `cached` and `cache_write` are parts of it. `output` is what
 * was answered without `thoughts`, where the agent tells them apart. `total` is input + output +
 * thoughts + tool.
 */
export interface Usage {
  requests: number;
  input: number | null;
  cached: number | null;
  cache_write: number | null;
  output: number | null;
  thoughts: number | null;
  tool: number | null;
  total: number | null;
  reported_total: number | null;
  cache_write_hour: number | null;
}

/** A file that holds a session or a piece of one. */
export interface SessionFile {
  path: string;
  format: string;
  size: number;
  kept: boolean;
}

/** A file that the agent wrote beside a session. */
export interface Beside {
  kind: string;
  path: string;
  size: number;
}

/** Something that could not be read, and where. */
export interface Problem {
  file: string;
  kind: ProblemKind;
  detail: string;
  line: number | null;
  start: number | null;
  end: number | null;
}

/** What went wrong with a file, a record or a field. */
export type ProblemKind = "bad-json" | "bad-text" | "empty" | "left-unread" | "no-header" | "not-a-session" | "unreadable" | "wrong-type";

/** What the user noted of a session. */
export interface NoteLine {
  at: string;
  text: string;
}

/** The prompts of a session in order. */
export interface Outline {
  detail: string;
  total: number;
  kinds: Record<string, number>;
  prompts: OutlineLine[];
}

/** A prompt in the outline of a session. */
export interface OutlineLine {
  number: number;
  entry: number;
  text: string;
  at: string | null;
  state: State;
  replies: number;
  calls: number;
  errors: number;
  tokens: number | null;
  seconds: number | null;
}

/** Messages that stand together and were dropped by one record. */
export interface Branch {
  index: number;
  state: State;
  first: number;
  last: number;
  messages: number;
  forked_after: number | null;
  prompt: string;
  at: string | null;
}

/** What was taken out of the agent's view, in order. */
export interface Branches {
  branches: Branch[];
}

/** Where words stand in a session: a window of all places, in order. */
export interface FoundInSession {
  total: number;
  messages: number;
  start: number;
  places: FoundPlace[];
}

/** One place where the words stand. */
export interface FoundPlace {
  number: number;
  entry: number | null;
  part: number;
  where: string;
  argument: string | null;
  nth: number;
  pieces: SnippetPiece[];
}

/** What happened when. */
export interface Timeline {
  id: string;
  title: string | null;
  agent: string;
  project: string | null;
  total: number;
  turns: TimelineTurn[];
}

/** A prompt and all that followed until the next. */
export interface TimelineTurn {
  number: number;
  text: string;
  start: string | null;
  end: string | null;
  idle: number | null;
  tokens: number | null;
  calls: TimelineCall[];
}

/** A call on the time line. */
export interface TimelineCall {
  number: number;
  name: string;
  kind: ToolKind;
  status: ToolStatus;
  start: string | null;
  end: string | null;
  argument: string;
}

/** How the context filled, request by request; of very many, some. */
export interface ContextFill {
  windows: Record<string, number>;
  total: number;
  points: ContextPoint[];
  marks: ContextMark[];
}

/** How full the context was at a request. */
export interface ContextPoint {
  number: number;
  at: string | null;
  model: string | null;
  tokens: number;
  cached: number | null;
  output: number | null;
}

/** Where messages were taken out of the context. */
export interface ContextMark {
  number: number;
  state: State;
  messages: number;
  before: number | null;
  after: number | null;
}

/** The record of a message as the agent wrote it. */
export interface RawRecord {
  file: string;
  line: number;
  start: number;
  end: number;
  pointer: string | null;
  size: number;
  text: string;
  is_cut: boolean;
  version: number;
  versions: number;
}

/** How the agent would go on with a session, or why it cannot. Nothing is started. */
export interface Resume {
  is_resumable: boolean;
  reason: string | null;
  command: string[];
  folder: string | null;
  environment: Record<string, string>;
  line: string | null;
  is_installed: boolean;
  warnings: string[];
  offers: OfferLine[];
}

/** Something that can be done. */
export interface OfferLine {
  sentence: string;
  lines: string[];
}

/** What sessions did, used and cost, in groups. */
export interface UsageFigures {
  by: string;
  since: string | null;
  until: string | null;
  total: UsageGroup;
  groups: UsageGroup[];
  left_out: number;
  price_list: string | null;
  unpriced: UnpricedModel[];
}

/** What was done in one group; null where it is not told of such a group. */
export interface UsageGroup {
  key: string;
  name: string;
  agent: string | null;
  sessions: number;
  subagents: number;
  prompts: number | null;
  replies: number | null;
  active: number | null;
  calls: number | null;
  errors: number | null;
  cancelled: number | null;
  failure_rate: number | null;
  files: number | null;
  added: number | null;
  removed: number | null;
  tokens: UsedTokens | null;
  incomplete: number;
}

/** A model without a price, and why. */
export interface UnpricedModel {
  model: string;
  reason: string;
  requests: number;
}

/** Usage over time, split by model, agent or project. The parts, with the rest, add up to the total. */
export interface UsageSeries {
  by: string;
  split: string;
  since: string | null;
  until: string | null;
  keys: string[];
  total: UsedTokens;
  points: UsedTokens[];
  parts: SeriesPart[];
  rest: SeriesPart | null;
  left_out: number;
  price_list: string | null;
  unpriced: UnpricedModel[];
}

/** One of the parts that a total is split into. */
export interface SeriesPart {
  key: string;
  name: string;
  used: UsedTokens;
  totals: (number | null)[];
  costs: (number | null)[];
}

/** The sessions that used most, and those that took most time; the largest first. */
export interface LargestSessions {
  by_tokens: LargeSession[];
  by_time: LargeSession[];
}

/** A session that stands out, with its subagents. */
export interface LargeSession {
  id: string;
  title: string | null;
  agent: string;
  tokens: number | null;
  active: number | null;
}

/** When people typed and models answered, in local time; hours without anything are left out. */
export interface Hours {
  hours: Hour[];
}

/** What was said in an hour of a weekday. */
export interface Hour {
  weekday: number;
  hour: number;
  prompts: number;
  replies: number;
}

/** The projects there are, the last used first. */
export interface Projects {
  total: number;
  projects: ProjectLine[];
}

/** A project and how much there is of it. */
export interface ProjectLine {
  project: ProjectName;
  key: string;
  also: ProjectName[];
  certain: boolean;
  agents: string[];
  sessions: number;
  subagents: number;
  checkpoints: number;
  lost: number;
  first: string | null;
  last: string | null;
  bytes: number;
  tokens: UsedTokens;
}

/** What could not be read, what is kept, and how the index stands. */
export interface Health {
  version: string;
  homes: string[];
  syncing: SyncState;
  problem_counts: Record<string, number>;
  problems: Problem[];
  problem_total: number;
  kept: KeptCopies;
}

/** How things stand with the kept copies. */
export interface KeptCopies {
  is_on: boolean;
  folder: string | null;
  files: number;
  versions: number;
  bytes: number;
  bytes_on_disk: number;
  last_kept_at: string | null;
  sessions_gone: number;
  left_out: string[];
  troubles: string[];
  homes: KeptPlace[];
}

/** A home of which copies are kept. */
export interface KeptPlace {
  agent: string;
  folder: string;
  files: number;
  bytes: number;
  is_there: boolean;
}

/** How much the index holds. */
export interface IndexFigures {
  path: string | null;
  bytes: number;
  source_bytes: number;
  projects: number;
  sessions: number;
  messages: number;
  words: number;
  every_word: boolean;
}

/** What became of every byte and record of all files. */
export interface Doctor {
  files: number;
  bytes: Tallied;
  records: Tallied;
  ignored: Record<string, number>;
  unknown_fields: Record<string, number>;
}

/** A total and its parts, which add up to it. */
export interface Tallied {
  total: number;
  used: number;
  ignored: number;
  problem: number;
}

/** What a sync took in. */
export interface Synced {
  bundles: number;
  seconds: number;
  said: string[];
}

/** Why there is no answer, as RFC 9457 has it. */
export interface FaultyRequest {
  type: string;
  title: string;
  status: number;
  detail: string;
  candidates: Candidate[];
}

/** A session that may have been meant. */
export interface Candidate {
  id: string;
  title: string | null;
  place: string;
  at: string | null;
}

/** What `/api/events` tells, as the data of an event of this name: no words of a session. */
export interface LiveEvent {
  event: string;
  session_id: string | null;
  parent_id: string | null;
  agent: string | null;
  added: number;
  changed: number;
  dropped: number;
  detail: string | null;
}

/** What can be asked. */
export interface Readable {
  /** What the server can do, and the token that changes need. */
  "/api/about": {
    asked: {
      redact?: boolean;
    };
    answer: About;
  };
  /** Counts, activity day by day, tokens and cost, the newest sessions. */
  "/api/overview": {
    asked: {
      redact?: boolean;
      days?: number;
    };
    answer: Overview;
  };
  /** What agents are going to delete by themselves, and how to prevent it. */
  "/api/forecast": {
    asked: {
      redact?: boolean;
      limit?: number;
    };
    answer: Forecast;
  };
  /** A page of sessions: newest first, or the best first where words are looked for. */
  "/api/sessions": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      kind?: ("checkpoint" | "copy" | "lost" | "main" | "subagent")[];
      tag?: string[];
      kept?: boolean;
      order?: "date" | "messages" | "project" | "started" | "title";
      reverse?: boolean;
      limit?: number;
      after?: string;
    };
    answer: Sessions;
  };
  /** What the sessions of a question have in common, with counts. */
  "/api/facets": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      kind?: ("checkpoint" | "copy" | "lost" | "main" | "subagent")[];
      tag?: string[];
      kept?: boolean;
    };
    answer: Facets;
  };
  /** Messages that hold what is looked for. */
  "/api/search": {
    asked: {
      redact?: boolean;
      q: string;
      place?: ("arguments" | "human" | "model" | "other" | "output" | "paths" | "thoughts")[];
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      order?: "best" | "newest";
      limit?: number;
      per_session?: number;
      width?: number;
      after?: string;
    };
    answer: Search;
  };
  /** A session as it opens: its first window, and all else as soon as all of it is read. */
  "/api/session/opening": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      start?: number;
      count?: number;
      around?: number;
      whole?: boolean;
    };
    answer: Opening;
  };
  /** What is known of a session, without its messages. */
  "/api/session": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
    };
    answer: SessionFacts;
  };
  /** The prompts of a session, each with what came of it. */
  "/api/session/outline": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      start?: number;
      count?: number;
    };
    answer: Outline;
  };
  /** A window of the story of a session. */
  "/api/session/messages": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      start?: number;
      count?: number;
      around?: number;
    };
    answer: Story;
  };
  /** One message at any level of detail, also where the story at that level leaves it out. */
  "/api/session/message": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      number: number;
    };
    answer: TurnEntry;
  };
  /** What was taken out of the agent's view, and where it forked. */
  "/api/session/branches": {
    asked: {
      redact?: boolean;
      id: string;
    };
    answer: Branches;
  };
  /** The messages of a dropped branch, told as if they had stayed. */
  "/api/session/branch": {
    asked: {
      redact?: boolean;
      id: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      index: number;
      start?: number;
      count?: number;
    };
    answer: Story;
  };
  /** The places in a session where some words stand. */
  "/api/session/find": {
    asked: {
      redact?: boolean;
      id: string;
      words: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      start?: number;
      count?: number;
      at?: number;
    };
    answer: FoundInSession;
  };
  /** Turns and calls of a session with their beginnings and ends. */
  "/api/session/timeline": {
    asked: {
      redact?: boolean;
      id: string;
      start?: number;
      count?: number;
    };
    answer: Timeline;
  };
  /** How the context of a session filled, and where something was taken out of it. */
  "/api/session/context": {
    asked: {
      redact?: boolean;
      id: string;
    };
    answer: ContextFill;
  };
  /** A picture, or the bytes of another attachment to be saved. */
  "/api/session/attachment": {
    asked: {
      redact?: boolean;
      id: string;
      number: number;
      part: number;
      piece?: number;
    };
    answer: unknown;
  };
  /** All words of a message as they were written, or of one part: to copy, or where a page shows a piece. */
  "/api/session/text": {
    asked: {
      redact?: boolean;
      id: string;
      number: number;
      part?: number;
      argument?: string;
    };
    answer: unknown;
  };
  /** The record of a message as the agent wrote it. */
  "/api/session/raw": {
    asked: {
      redact?: boolean;
      id: string;
      number: number;
      version?: number;
    };
    answer: RawRecord;
  };
  /** A message, a prompt with all that came of it, or a session as Markdown, to be copied. */
  "/api/session/markdown": {
    asked: {
      redact?: boolean;
      id: string;
      number?: number;
      with_answers?: boolean;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
    };
    answer: unknown;
  };
  /** A session in one of the formats, to be saved. */
  "/api/session/export": {
    asked: {
      redact?: boolean;
      id: string;
      format?: string;
      detail?: "conversation" | "everything" | "prompts" | "thoughts" | "tools";
      secrets?: boolean;
    };
    answer: unknown;
  };
  /** How to go on with a session in its agent, as a line for a shell, or why that cannot be done. */
  "/api/session/resume": {
    asked: {
      redact?: boolean;
      id: string;
    };
    answer: Resume;
  };
  /** What sessions did, used and cost, in groups. */
  "/api/usage": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      by?: "agent" | "day" | "model" | "month" | "project" | "session" | "tool" | "week";
      limit?: number;
      fold?: boolean;
    };
    answer: UsageFigures;
  };
  /** Usage over time, split into its largest parts. */
  "/api/usage/series": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      by?: "day" | "month" | "week";
      split?: "agent" | "model" | "project";
      limit?: number;
    };
    answer: UsageSeries;
  };
  /** The sessions that used most, and those that took most time, each with its subagents. */
  "/api/usage/sessions": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
      limit?: number;
    };
    answer: LargestSessions;
  };
  /** In which hours of which weekdays people typed and models answered. */
  "/api/usage/hours": {
    asked: {
      redact?: boolean;
      q?: string;
      project?: string;
      agent?: string[];
      since?: string;
      until?: string;
    };
    answer: Hours;
  };
  /** The projects there are, the last used first, with what was used for each. */
  "/api/projects": {
    asked: {
      redact?: boolean;
      agent?: string[];
      limit?: number;
    };
    answer: Projects;
  };
  /** What could not be read, what is kept, and how the index stands. */
  "/api/health": {
    asked: {
      redact?: boolean;
      limit?: number;
    };
    answer: Health;
  };
  /** How much the index holds; counting words takes a while. */
  "/api/health/index": {
    asked: {
      redact?: boolean;
    };
    answer: IndexFigures;
  };
  /** What became of every byte and record; reads all files, one such question at a time. */
  "/api/health/doctor": {
    asked: {
      redact?: boolean;
    };
    answer: Doctor;
  };
  /** What agents write, as server-sent events; the data of each is a LiveEvent. */
  "/api/events": {
    asked: {
      redact?: boolean;
    };
    answer: unknown;
  };
}

/** What changes something. */
export interface Changing {
  /** Bring the index up to date now. */
  "/api/sync": {
    asked: {
      redact?: boolean;
    };
    answer: Synced;
  };
}
