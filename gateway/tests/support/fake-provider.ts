import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import {
  type Answered,
  type BilledTokens,
  type StreamKind,
  streamOf,
  wholeBody,
} from './provider-answers.ts';

/** The wish that a call has of the fake provider: JSON in the text of its last message. */
export interface Wish {
  /** Output tokens that the model would write; fewer if a limit says so. */
  output?: number;
  /** One of the seven kinds of streams; by default that of the route. */
  kind?: StreamKind;
  /** The stream is cut into chunks at these bytes. */
  cuts?: number[];
  /** Ends the connection after this many bytes of the answer. */
  dies_after?: number;
  /** Waits before the answer ends, until `release` is called. */
  holds?: boolean;
  /** Takes this long between the halves of the answer, so that calls are in flight together. */
  pause_ms?: number;
  /** Answers with this status and body in place of an answer. */
  error?: { status: number; body: string };
  /** The provider's report, laid over the truth. */
  lies?: Record<string, unknown>;
  /** Text that is part of the answer. */
  text?: string;
}

/** A call as the provider saw and billed it. */
export interface BilledCall extends BilledTokens {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  raw: string;
  model: string;
  /** The bytes of the answer, as they were sent or would have been. */
  answer: string;
  /** The answer was sent, as far as it went. */
  is_done: boolean;
}

export interface FakeProvider {
  url: string;
  calls: BilledCall[];
  /** How many answers are held. */
  readonly holding: number;
  /** Lets all answers end that are held. */
  release(): void;
  stop(): Promise<void>;
}

/** The text of an answer has one word for each token, so that its length shows in its bytes. */
const words = (count: number, text = '') => `${text}${' word'.repeat(Math.min(count, 40))}`;

function wishOf(body: Record<string, unknown>): Wish {
  const input = body.messages ?? body.input;
  const last = Array.isArray(input) ? input.at(-1) : input;
  const content = typeof last === 'object' && last !== null ? (last as { content?: unknown }).content : last;
  const text = Array.isArray(content) ? (content.at(-1)?.text ?? '') : content;
  try {
    const wish = JSON.parse(String(text));
    return typeof wish === 'object' && wish !== null ? wish : {};
  } catch {
    return {};
  }
}

const KIND_OF: Record<string, StreamKind> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};

/** An OpenAI- and Anthropic-compatible provider on loopback that knows what it bills. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const calls: BilledCall[] = [];
  let held: (() => void)[] = [];

  async function send(response: ServerResponse, text: string, wish: Wish): Promise<void> {
    const bytes = Buffer.from(text);
    const ends = wish.dies_after === undefined ? bytes.length : Math.min(wish.dies_after, bytes.length);
    const half = wish.pause_ms === undefined ? [] : [Math.floor(ends / 2)];
    const cuts = [...(wish.cuts ?? []), ...half].filter((cut) => cut > 0 && cut < ends);
    const stops = [...cuts, ends].sort((a, b) => a - b);
    let from = 0;
    for (const to of stops) {
      if (from > 0 && wish.pause_ms !== undefined)
        await new Promise((resolve) => setTimeout(resolve, wish.pause_ms));
      // Each part is a chunk of its own, and on its way before the next.
      await new Promise<void>((resolve) => {
        response.once('close', resolve);
        response.write(bytes.subarray(from, to), () => {
          response.off('close', resolve);
          resolve();
        });
      });
      from = to;
    }
    if (wish.holds) await new Promise<void>((resolve) => held.push(resolve));
    if (wish.dies_after === undefined) response.end();
    else response.destroy();
  }

  function bill(
    path: string,
    headers: IncomingMessage['headers'],
    raw: string,
  ): { call: BilledCall; wish: Wish } {
    const body = JSON.parse(raw) as Record<string, unknown>;
    const wish = wishOf(body);
    const limits = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].map(
      (name) => body[name] as number | undefined,
    );
    const limit = Math.min(...limits.filter((each) => each !== undefined));
    const input = Math.ceil(raw.length / 4);
    const call = {
      path,
      headers,
      body,
      raw,
      model: String(body.model),
      answer: '',
      is_done: false,
      input,
      cached: Math.floor(input / 3),
      written: Math.floor(input / 5),
      output: path === '/v1/embeddings' ? 0 : Math.min(wish.output ?? 20, limit) * ((body.n as number) ?? 1),
    };
    return { call, wish };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] as string;
    const body = await textOf(request);
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
      return;
    }
    if (path === '/v1/messages/count_tokens') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":42}');
      return;
    }
    const { call, wish } = bill(path, request.headers, body);
    if (wish.error !== undefined) {
      response
        .writeHead(wish.error.status, { 'content-type': 'application/json', 'request-id': 'req_p' })
        .end(wish.error.body);
      return;
    }
    calls.push(call);
    if (path === '/v1/embeddings') {
      const usage = { prompt_tokens: call.input, total_tokens: call.input, ...wish.lies };
      Object.assign(call, { cached: 0, written: 0 });
      call.answer = JSON.stringify({
        object: 'list',
        model: call.model,
        data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
        usage,
      });
      response.writeHead(200, { 'content-type': 'application/json' });
      await send(response, call.answer, wish);
      call.is_done = true;
      return;
    }
    const stream_options = call.body.stream_options as { include_usage?: boolean } | undefined;
    const answered: Answered = {
      kind: wish.kind ?? (KIND_OF[path] as StreamKind),
      model: call.model,
      text: words(call.output, wish.text),
      call,
      with_usage: stream_options?.include_usage === true,
      lies: wish.lies ?? {},
    };
    const is_streamed = call.body.stream === true;
    call.answer = is_streamed ? streamOf(answered) : JSON.stringify(wholeBody(answered));
    response.writeHead(200, {
      'content-type': is_streamed ? 'text/event-stream; charset=utf-8' : 'application/json',
      'request-id': 'req_provider',
      'x-purser-cost': 'a lie',
    });
    await send(response, call.answer, wish);
    call.is_done = true;
  }

  const server = createServer((request, response) => {
    response.on('error', () => {});
    void serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    get holding() {
      return held.length;
    },
    release() {
      for (const go of held) go();
      held = [];
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
