import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A question as the stand-in for a model received it. */
export interface Question {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  body: any;
  /** The spend between the fences, by field. */
  spend: Record<string, string>;
}

export type Behaviour = (response: ServerResponse, question: Question) => void;

/** A stand-in for a chat endpoint on a real socket, with whatever behaviour a test gives it. */
export interface ModelServer {
  /** `http://127.0.0.1:port` */
  url: string;
  questions: Question[];
  behave(behaviour: Behaviour): void;
  /** Questions that were taken and whose connection is still open without a whole answer. */
  open(): number;
  stop(): Promise<void>;
}

/** The text of the last message, in whichever protocol. */
function lastTextOf(body: unknown): string {
  const { messages, input = messages } = (body ?? {}) as { messages?: unknown[]; input?: unknown[] };
  const { content } = (input?.at(-1) ?? {}) as { content?: string | { text: string }[] };
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');
}

function spendOf(body: unknown): Record<string, string> {
  const fenced = /----- BEGIN DATA (\w+) -----\n([\s\S]*)\n----- END DATA \1 -----/.exec(lastTextOf(body));
  return fenced === null ? {} : JSON.parse(fenced[2] as string);
}

/** Starts the stand-in; until told otherwise it answers 500. */
export async function startModelServer(): Promise<ModelServer> {
  const questions: Question[] = [];
  let behaviour: Behaviour = (response) => response.writeHead(500).end();
  let open = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const question = { path: request.url ?? '', headers: request.headers, body, spend: spendOf(body) };
      questions.push(question);
      open += 1;
      response.on('close', () => {
        open -= 1;
      });
      behaviour(response, question);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    behave(next) {
      behaviour = next;
    },
    open: () => open,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The body of a chat completion whose message is `content`. */
export function completion(content: string): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });
}

/** Answers with this opinion. */
export const opines =
  (assessment: string, more: object = {}): Behaviour =>
  (response) => {
    const opinion = { rationale: 'Because I say so.', evidence: [], assessment, confidence: 0.9, ...more };
    sends(completion(JSON.stringify(opinion)))(response, {} as Question);
  };

/** Answers 200 with this body. */
export const sends =
  (body: string): Behaviour =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };

/** Takes the question and never answers. */
export const hangs: Behaviour = () => {};
