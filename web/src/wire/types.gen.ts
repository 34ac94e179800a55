// Written by web/wire_types.py from the structs of the daemon. Do not edit.

export interface AgentOut {
  name: string;
  title: string;
  installed: boolean;
  version: string;
  ways: string[];
  modes: string[];
  models: string[];
  logged_in: boolean | null;
  hint: string;
}

export interface AgentsOut {
  agents: AgentOut[];
  usual: string;
}

export interface Answer {
  type: "answer";
  id: string;
  session: string;
  decision: string;
  answer: string;
  always?: string | null;
}

export interface AppliedOut {
  branch: string;
  before: string;
  commit: string;
  moved: boolean;
  folder: string;
  files: number;
}

export interface ApplyIn {
  squash?: boolean;
  to?: string | null;
}

export interface AssistantItem {
  kind: "assistant";
  id: string;
  seq: number;
  place: number;
  at: string;
  round: number;
  text: string;
  thinking: string;
  streaming: boolean;
  model: string;
}

export interface BannerOut {
  reason: "completed" | "cancelled" | "budget_exceeded" | "tool_limit" | "round_limit" | "time_limit" | "error" | "rate_limited" | "interrupted";
  title: string;
  text: string;
  icon: string;
  tint: string;
  button: string | null;
  dismiss: boolean;
  at: string;
  phase: string;
  during: string;
  round: number;
  resumes_at: string | null;
}

export interface Beat {
  type: "beat";
}

export interface CallOut {
  call: string;
  name: string;
  input: string;
  output: string;
}

export interface Cancel {
  type: "cancel";
  id: string;
  session: string;
}

export interface CoderItem {
  kind: "coder";
  id: string;
  seq: number;
  place: number;
  at: string;
  call: string;
  task: string;
  plan: string;
  open_tasks: string[];
  files_touched: string[];
  assumptions: string[];
  errors: string[];
  finished: boolean;
}

export interface CompactedItem {
  kind: "compacted";
  id: string;
  seq: number;
  place: number;
  at: string;
  summary: string;
}

export interface Created {
  id: string;
  session: SessionOut;
  run: number | null;
  notes: string[];
}

export interface DayOut {
  day: string;
  runs: number;
  stops: number;
  interrupted: number;
  cost: number;
  input_tokens: number;
  output_tokens: number;
}

export interface DecisionOut {
  id: string;
  kind: string;
  title: string;
  text: string;
  options: string[];
  call: string | null;
}

export interface Delta {
  type: "delta";
  session: string;
  item: string;
  field: "text" | "thinking";
  offset: number;
  text: string;
}

export interface DiffOut {
  base: string;
  branch: string;
  files: FileOut[];
  added: number;
  removed: number;
  left_out: string[];
  truncated: boolean;
}

export interface Dismiss {
  type: "dismiss";
  id: string;
  session: string;
}

export interface DividerItem {
  kind: "divider";
  id: string;
  seq: number;
  place: number;
  at: string;
  text: string;
  briefing: string;
  run: number;
  strategy: string | null;
  drift: string | null;
}

export interface Done {
  session: SessionOut;
  changed: boolean;
}

export interface ErrorBody {
  code: string;
  message: string;
  hint: string;
  candidates: string[];
}

export interface ErrorOut {
  error: ErrorBody;
}

export interface EventOut {
  seq: number;
  type: string;
  at: string;
  data: Record<string, unknown>;
}

export interface Events {
  type: "events";
  session: string;
  first: number;
  seq: number;
  events: EventOut[];
}

export interface FileOut {
  path: string;
  status: string;
  before: string;
  binary: boolean;
  added: number | null;
  removed: number | null;
  patch: string;
  truncated: boolean;
}

export interface FolderOut {
  path: string;
  state: "missing" | "no_commit" | "no_git" | "ready" | "trouble";
  branch: string;
  uncommitted: number;
  says: string;
}

export interface ForkIn {
  at?: number | null;
}

export interface Gap {
  type: "gap";
  session: string;
  error: ErrorBody;
}

export interface Health {
  version: string;
  pid: number;
  epoch: string;
  store: string;
  home: string;
  address: string;
  socket: string;
}

export interface Hello {
  type: "hello";
  session: string;
  epoch: string;
  head: number;
  reset: boolean;
}

export interface Hit {
  session: string;
  title: string;
  seq: number;
  at: string;
  who: string;
  snippet: string;
  begin: number;
  end: number;
}

export interface Items {
  type: "items";
  session: string;
  seq: number;
  items: (UserItem | DividerItem | AssistantItem | ToolItem | PlanItem | NoticeItem | RewoundItem | QuestionItem | StopItem | CompactedItem | CoderItem)[];
  document: SessionOut | null;
}

export interface ItemsOut {
  epoch: string;
  head: number;
  document: SessionOut;
  items: (UserItem | DividerItem | AssistantItem | ToolItem | PlanItem | NoticeItem | RewoundItem | QuestionItem | StopItem | CompactedItem | CoderItem)[];
  more: boolean;
}

export interface LaunchOut {
  number: number;
  status: string;
  attach: string[];
}

export interface LimitsIn {
  budget_usd?: number | null;
  budget_tokens?: number | null;
  max_tool_calls?: number | null;
  max_rounds?: number | null;
  max_time?: number | null;
  session_budget_usd?: number | null;
  session_budget_tokens?: number | null;
}

export interface ModelsOut {
  models: string[];
}

export interface NewSession {
  folder: string;
  prompt?: string | null;
  input?: string | null;
  id?: string | null;
  agent?: string | null;
  via?: string | null;
  model?: string | null;
  mode?: string | null;
  title?: string | null;
  limits?: LimitsIn;
  here?: boolean;
  git?: boolean;
  with_changes?: boolean;
  task?: string | null;
  images?: unknown[];
  environ?: Record<string, string>;
}

export interface NoticeItem {
  kind: "notice";
  id: string;
  seq: number;
  place: number;
  at: string;
  level: "error" | "info" | "warning";
  text: string;
  until: string | null;
}

export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
  most: number;
}

export interface PlanItem {
  kind: "plan";
  id: string;
  seq: number;
  place: number;
  at: string;
  run: number;
  items: PlanLine[];
}

export interface PlanLine {
  text: string;
  state: "done" | "in_progress" | "pending";
}

export interface PlanOut {
  would_run: boolean;
  reason: string;
  hint: string;
  strategy: string | null;
  why: string;
  drift: string | null;
  rebuild: string | null;
  risks: string[];
  estimate_usd: number | null;
  estimate_tokens: number;
  message: string | null;
  calls: Record<string, string>;
}

export interface ProgressOut {
  phase: "idle" | "starting" | "streaming_llm" | "executing_tools" | "delegating_coder";
  round: number;
  tool: string | null;
  tokens: Tokens;
  cost: number;
  context_used: number | null;
  context_window: number | null;
  started_at: string | null;
  cancelling: boolean;
}

export interface Prompt {
  type: "prompt";
  id: string;
  session: string;
  text: string;
  input?: string | null;
  limits?: LimitsIn | null;
  images?: unknown[];
}

export interface QuestionItem {
  kind: "question";
  id: string;
  seq: number;
  place: number;
  at: string;
  decision: string;
  question_kind: string;
  title: string;
  text: string;
  note: string;
  tool: string;
  input: string;
  options: string[];
  call: string | null;
  answer: string | null;
  withdrawn: string | null;
}

export interface QueuedOut {
  id: string;
  text: string;
}

export interface Reattach {
  type: "session.resume";
  id: string;
  session: string;
}

export interface Result {
  type: "result";
  id: string;
  ok?: unknown;
  error?: ErrorBody | null;
}

export interface Resume {
  type: "resume";
  id: string;
  session: string;
  message?: string | null;
  limits?: LimitsIn | null;
  rerun?: string[];
  fresh?: boolean;
  images?: unknown[];
}

export interface ResumeStatus {
  state: "CREATED" | "STARTING" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "FAILED" | "CANCELLED";
  is_agent_running: boolean;
  is_resumable: boolean;
  needs_resume: boolean;
  reason: "archived" | "terminal" | "running" | "recently_seen" | "not_started" | "error_unseen" | "agent_not_running" | "agent_not_running_fresh_start";
}

export interface Resumes {
  stops: number;
  resumed: number;
  succeeded: number;
  failed: number;
  open: number;
  success_rate: number | null;
  repeated_calls: number;
  with_repeats: number;
}

export interface RewindIn {
  to: number;
  code?: boolean;
  conversation?: boolean;
}

export interface RewoundItem {
  kind: "rewound";
  id: string;
  seq: number;
  place: number;
  at: string;
  text: string;
  round: number;
  since: number | null;
}

export interface RewoundOut {
  session: SessionOut;
  undo: string;
  notes: string[];
}

export interface SearchOut {
  query: string;
  hits: Hit[];
  sessions: number;
  truncated: boolean;
}

export interface Seen {
  type: "seen";
  id: string;
  session: string;
  by?: string;
}

export interface SessionOut {
  id: string;
  title: string;
  state: "CREATED" | "STARTING" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "FAILED" | "CANCELLED";
  agent: string;
  via: string;
  model: string;
  mode: string;
  workspace: WorkspaceOut;
  stop: StopOut | null;
  last_stop: StopOut | null;
  stop_seen: boolean;
  run: number | null;
  phase: "idle" | "starting" | "streaming_llm" | "executing_tools" | "delegating_coder";
  round: number;
  head: number;
  agent_session_id: string | null;
  pending: DecisionOut[];
  queue: QueuedOut[];
  cost: number;
  tokens: Tokens;
  launch: LaunchOut | null;
  created_at: string;
  updated_at: string;
  pinned: boolean;
  tags: string[];
  archived: boolean;
  task: string | null;
  actions: string[];
  banner: BannerOut | null;
  doing: string;
  needs_you: boolean;
  unseen: boolean;
  progress: ProgressOut | null;
  status: ResumeStatus | null;
  quarantined: string | null;
  trashed: boolean;
  unpriced: number;
}

export interface SessionsOut {
  sessions: SessionOut[];
  next: string | null;
}

export interface StatsOut {
  days: number;
  since: string;
  sessions: number;
  stops: StopCount[];
  resumes: Resumes;
  time_to_resume: Percentiles | null;
  strategies: Record<string, number>;
  drifts: Record<string, number>;
  per_day: DayOut[];
  interruptions: StopOutcome[];
}

export interface Status {
  type: "session.status";
  id: string;
  session: string;
}

export interface StopCount {
  reason: string;
  phase: string;
  count: number;
}

export interface StopItem {
  kind: "stop";
  id: string;
  seq: number;
  place: number;
  at: string;
  reason: "completed" | "cancelled" | "budget_exceeded" | "tool_limit" | "round_limit" | "time_limit" | "error" | "rate_limited" | "interrupted";
  class: string | null;
  title: string;
  text: string;
  phase: "idle" | "starting" | "streaming_llm" | "executing_tools" | "delegating_coder";
  round: number;
  resumes_at: string | null;
  percent: number | null;
  dismissed: boolean;
}

export interface StopOut {
  reason: string;
  class: string | null;
  message: string;
  phase: string;
  round: number;
  at: string;
  resumes_at: string | null;
  percent: number | null;
  evidence: Record<string, unknown>;
  fingerprint: string | null;
}

export interface StopOutcome {
  session: string;
  run: number;
  at: string;
  reason: string;
  error: string | null;
  phase: string;
  resumed_at: string | null;
  seconds_to_resume: number | null;
  cause: string;
  strategy: string;
  drift: string;
  success: boolean | null;
  repeated: number;
}

export interface Subscribe {
  type: "subscribe";
  id: string;
  session: string;
  after?: number;
  epoch?: string;
  view?: string;
}

export interface Tokens {
  input: number;
  output: number;
}

export interface ToolItem {
  kind: "tool";
  id: string;
  seq: number;
  place: number;
  at: string;
  call: string;
  name: string;
  summary: string;
  input: string;
  input_size: number;
  output: string;
  output_size: number;
  status: "cancelled" | "denied" | "finished" | "pending" | "running" | "unknown";
  failed: boolean;
  effect: "pure" | "idempotent" | "probeable" | "unsafe";
  millis: number;
  files: string[];
  blob: string | null;
}

export interface Unsubscribe {
  type: "unsubscribe";
  id: string;
  session: string;
}

export interface UserItem {
  kind: "user";
  id: string;
  seq: number;
  place: number;
  at: string;
  text: string;
  input: string | null;
}

export interface WorkspaceOut {
  path: string;
  branch: string;
  repo: string;
  base: string;
}

export type Item =
  | UserItem
  | DividerItem
  | AssistantItem
  | ToolItem
  | PlanItem
  | NoticeItem
  | RewoundItem
  | QuestionItem
  | StopItem
  | CompactedItem
  | CoderItem;

export type Given =
  | Subscribe
  | Unsubscribe
  | Prompt
  | Resume
  | Cancel
  | Dismiss
  | Answer
  | Seen
  | Status
  | Reattach;

export type Said =
  | Hello
  | Events
  | Items
  | Delta
  | Gap
  | Beat
  | Result;

export const REASONS: Record<string, string> = {
  "completed": "completed",
  "cancelled": "stopped",
  "budget_exceeded": "budget limit",
  "tool_limit": "tool limit",
  "round_limit": "round limit",
  "time_limit": "time limit",
  "rate_limited": "rate limited",
  "error": "error",
  "interrupted": "interrupted",
};

export const DURING: Record<string, string> = {
  "idle": "between steps",
  "starting": "while starting",
  "streaming_llm": "while answering",
  "executing_tools": "while using tools",
  "delegating_coder": "while a coder worked",
};

export const CONTEXT: Record<string, string> = {
  "replay": "the whole conversation, from our record",
  "acp_resume": "the agent's own memory",
  "acp_load": "the agent's own memory, read back to us",
  "native": "the agent's own memory",
  "inject": "our record, put before the next message",
  "fresh": "none: the agent starts afresh",
};

export const WORKSPACE: Record<string, string> = {
  "same": "as it was left",
  "ours_partial": "with half-done changes of the agent's own",
  "foreign_edits": "with changes by somebody else",
  "branch_moved": "on another branch",
  "head_moved": "with other commits",
  "workspace_missing": "gone",
};

export const EFFECTS: Record<string, string> = {
  "pure": "Only looks: can be done again",
  "idempotent": "Can be done again without harm",
  "probeable": "Can be checked afterwards",
  "unsafe": "Never done again by itself",
};

export const MODES: Record<string, string> = {
  "read-only": "Read only",
  "ask": "Asks before every change",
  "edits": "Edits freely",
  "full": "Full access",
};
