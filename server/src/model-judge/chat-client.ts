import { Agent, request } from 'undici';

/** What became of a question to the model. `content` is the text of its message. */
export type ChatAnswer =
  | { kind: 'answered'; content: string }
  | { kind: 'http_error'; status: number }
  | { kind: 'timeout' | 'unreachable' | 'too_large' | 'not_understood' | 'stopping' };

/** Talks to an OpenAI-compatible chat endpoint. */
export interface ChatClient {
  /** Never rejects, and resolves within the timeout. */
  ask(body: object): Promise<ChatAnswer>;
  /** Ends what is under way, which then resolves as `stopping`, and closes the connections. */
  stop(): Promise<void>;
}

export interface ChatClientOptions {
  /** The endpoint, or what it lies under; see `chatAddress`. */
  url: string;
  /** Sent as a bearer token. */
  api_key: string | null;
  /** For all of it: connecting, sending, and the last byte of the answer. */
  timeout_ms: number;
  /** At most this many connections are open. */
  connections: number;
}

/** An opinion takes about 1 KB; the rest is room for what endpoints add around it. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The address of the chat endpoint: the URL itself if it ends in `/chat/completions`, else the one under it, with
 * `/v1` before it when the URL has no path. A query is kept.
 */
export function chatAddress(url: string): URL {
  const address = new URL(url);
  address.hash = '';
  const path = address.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/chat/completions')) {
    address.pathname = `${path === '' ? '/v1' : path}/chat/completions`;
  }
  return address;
}

/**
 * Makes the client. It follows no redirect, uses no proxy of the environment, decompresses nothing, and reads at most
 * 64 KiB of an answer.
 */
export function makeChatClient(options: ChatClientOptions): ChatClient {
  const { timeout_ms, api_key } = options;
  const address = chatAddress(options.url);
  const dispatcher = new Agent({ connections: options.connections, connect: { timeout: timeout_ms } });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser',
  };
  if (api_key !== null) headers.authorization = `Bearer ${api_key}`;
  const under_way = new Set<AbortController>();
  let stopped = false;

  async function exchange(body: object, signal: AbortSignal): Promise<ChatAnswer> {
    const answer = await request(address, {
      dispatcher,
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    });
    const status = answer.statusCode;
    if (status < 200 || status > 299) {
      // What it says is of no use, and an error must not keep a connection busy.
      answer.body.on('error', () => {});
      answer.body.destroy();
      return { kind: 'http_error', status };
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body) {
      length += (chunk as Buffer).length;
      // Leaving the loop ends the connection.
      if (length > MAX_ANSWER_BYTES) return { kind: 'too_large' };
      chunks.push(chunk as Buffer);
    }
    const content = contentOf(Buffer.concat(chunks).toString('utf8'));
    return content === null ? { kind: 'not_understood' } : { kind: 'answered', content };
  }

  return {
    async ask(body) {
      if (stopped) return { kind: 'stopping' };
      const controller = new AbortController();
      under_way.add(controller);
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        controller.abort();
      }, timeout_ms);
      try {
        return await exchange(body, controller.signal);
      } catch {
        // The cause is not handed on: it may quote what was sent.
        return { kind: late ? 'timeout' : stopped ? 'stopping' : 'unreachable' };
      } finally {
        clearTimeout(timer);
        under_way.delete(controller);
      }
    },
    async stop() {
      stopped = true;
      for (const controller of under_way) controller.abort();
      await dispatcher.destroy();
    },
  };
}

/** The message's text in a chat completion; null when there is none. */
function contentOf(text: string): string | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return null;
  }
  const { choices } = (answer ?? {}) as { choices?: unknown };
  const [choice] = Array.isArray(choices) ? choices : [];
  const content = (choice as { message?: { content?: unknown } } | null | undefined)?.message?.content;
  return typeof content === 'string' ? content : null;
}
