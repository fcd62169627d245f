import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { makePurserMcp, type PurserMcpOptions } from './server.ts';

/** One message that was posted, with whose key it came and how routes are called for it. */
export interface Posted extends Pick<PurserMcpOptions, 'call' | 'holder'> {
  /** Lower-case header names. */
  headers: Record<string, string | string[] | undefined>;
  /** The parsed JSON of the body. */
  message: unknown;
}

/** The response: a complete text, or chunks as they become available. */
export interface HttpAnswer {
  status: number;
  content_type: string;
  body: string | AsyncGenerator<string, void, void>;
}

/** Serves MCP over HTTP. */
export interface HttpEndpoint {
  /** Answers one message. Each is served by itself, so any process may serve the next one. */
  answer(posted: Posted): Promise<HttpAnswer>;
}

/** The headers that the transport reads. It gets no others, in particular not the key. */
const READ = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];
const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = 'application/json';

/**
 * Makes the door. It keeps nothing between two messages, opens no streams that last, and answers in JSON except where a
 * client wants to be told of the progress of a wait.
 */
export function makeHttpEndpoint(onFailure: (error: unknown) => void): HttpEndpoint {
  const of_request = new WeakMap<Request, Posted>();
  const serverOf = (posted: Posted): McpServer => makePurserMcp({ ...posted, onFailure });
  const modern = createMcpHandler(
    ({ requestInfo }) => serverOf(of_request.get(requestInfo as Request) as Posted),
    { legacy: 'reject', maxSubscriptions: 0 },
  );

  /** A message of the revisions before 2026-07-28, which have no envelope. */
  async function answerLegacy(request: Request, posted: Posted): Promise<HttpAnswer> {
    const server = serverOf(posted);
    const streamed = wantsProgress(posted.message);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streamed });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: posted.message });
    return answerOf(response, () => server.close());
  }

  async function answerModern(request: Request, posted: Posted): Promise<HttpAnswer> {
    of_request.set(request, posted);
    return answerOf(await modern.fetch(request, { parsedBody: posted.message }), async () => {});
  }

  return {
    async answer(posted) {
      const headers = new Headers();
      for (const name of READ) {
        const value = posted.headers[name];
        if (typeof value === 'string') headers.set(name, value);
      }
      const request = new Request('http://purser/mcp', { method: 'POST', headers });
      const is_legacy = await isLegacyRequest(request, posted.message);
      return is_legacy ? answerLegacy(request, posted) : answerModern(request, posted);
    },
  };
}

/** Reads what the library answers. `close` is called when all of it was read, or when nobody reads it any more. */
async function answerOf(response: Response, close: () => Promise<void>): Promise<HttpAnswer> {
  const { status, headers, body } = response;
  const content_type = headers.get('content-type') ?? JSON_TYPE;
  if (body !== null && content_type.startsWith(EVENT_STREAM))
    return { status, content_type, body: chunksOf(body, close) };
  const text = await response.text();
  await close();
  return { status, content_type, body: text };
}

/** Returns true if the message calls a slow tool and asks for progress reports. */
function wantsProgress(message: unknown): boolean {
  const { method, params } = (message ?? {}) as {
    method?: unknown;
    params?: { name?: unknown; _meta?: { progressToken?: unknown } };
  };
  return (
    method === 'tools/call' && params?.name === 'wait_for_review' && params._meta?.progressToken !== undefined
  );
}

async function* chunksOf(
  body: NonNullable<Response['body']>,
  close: () => Promise<void>,
): AsyncGenerator<string, void, void> {
  const text = new TextDecoder();
  try {
    // Ending the generator cancels the stream, and with it what is being done for it.
    for await (const chunk of body) yield text.decode(chunk, { stream: true });
  } finally {
    await close();
  }
}
