import type { IncomingHttpHeaders } from 'node:http';

/** The span of one request. */
export interface RequestSpan {
  trace_id: string;
  /** Notes the decision that the parameters of the path name, or whose document is answered. */
  noteDecision(params: unknown, json: string | undefined): void;
  end(status: number, workspace_id: string | undefined): void;
  /** Ends what other spans may still refer to; a request that is over has no batches any more. */
  release(): void;
}

/** The span of statements that were sent to the database together. */
export interface StatementsSpan {
  add(statement: string, answer: Promise<unknown>): void;
}

/** A request, as its span names it. */
export interface TracedRequest {
  headers: IncomingHttpHeaders;
  method: string;
  route: string;
  request_id: string;
}

/** A command in a batch, as far as a trace tells of it. */
export interface TracedPart {
  workspace_id: string;
  jobs: readonly { command: { name: string }; origin: { request_id: string | null } }[];
}

/** The results of a command that made or found a decision carry its document. */
export type TracedResults = readonly (readonly { kind: string; value?: unknown }[] | null)[];

/**
 * Tells a collector what takes how long: one span a request, one a batch of the lane, one a group of statements. Spans
 * hold ids and names of this service, never what customers wrote.
 */
export interface Tracing {
  /** Begins the span of a request, below the caller's `traceparent` if it sent one. */
  beginRequest(request: TracedRequest): RequestSpan;
  /** Does the work of a batch in a span, below its first request and linked with the others. */
  traceBatch<T extends TracedResults>(
    client: object,
    parts: readonly TracedPart[],
    work: () => Promise<T>,
  ): Promise<T>;
  /** Begins the span of statements on a connection; null if no traced batch is using it. */
  beginStatements(client: object): StatementsSpan | null;
  /** Sends what was not sent yet, for a limited time. */
  stop(): Promise<void>;
}

/** The id of the decision whose document this text is, or undefined. */
export function decisionIdIn(json: string): string | undefined {
  return /^\{"decision_id":"(dec_[0-9A-HJKMNP-TV-Z]{26})"/.exec(json)?.[1];
}
