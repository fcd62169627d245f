import { Agent, request } from 'undici';

/** The result of a question to the model. `content` is the text of its message. */
export type ChatAnswer =
  | { kind: 'answered'; content: string }
  | { kind: 'http_error'; status: number }
  | { kind: 'timeout' | 'unreachable' | 'too_large' | 'not_understood' | 'stopping' };

/** A client of an OpenAI-compatible chat endpoint. */
export interface ChatClient {
  /** Sends one request. Never rejects, and resolves within the timeout. */
  ask(body: object): Promise<ChatAnswer>;
  /** Aborts the requests under way, which resolve as `stopping`, and closes the connections. */
  stop(): Promise<void>;
}

export interface ChatClientOptions {
  /** The endpoint or its base URL; see `chatAddress`. */
  url: string;
  /** Sent as a bearer token; null: none is sent. */
  api_key: string | null;
  /** Time limit from connecting to the last byte of the answer. */
  timeout_ms: number;
  /** Maximum number of open connections. */
  connections: number;
}

/** An opinion takes about 1 KB; endpoints add fields of their own around it. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The address of the chat endpoint: the URL itself if it ends in `/chat/completions`, else that path appended to it,
 * after `/v1` if the URL has no path. The query stays, the fragment is dropped.
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
 * Makes the client. It follows no redirects, ignores proxies of the environment, decompresses nothing, and reads at
 * most `MAX_ANSWER_BYTES` of an answer.
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
      // The body is of no use, and reading it would keep the connection busy.
      answer.body.on('error', () => {});
      answer.body.destroy();
      return { kind: 'http_error', status };
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body) {
      length += (chunk as Buffer).length;
      // Leaving the loop closes the connection.
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
        // The error is dropped because it may quote the request.
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

/** The text of the message in a chat completion; null if there is none. */
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
