/** The seven kinds of streams. */
export const STREAM_KINDS = [
  'chat',
  'chat-tools',
  'chat-crlf',
  'responses',
  'responses-incomplete',
  'messages',
  'messages-thinking',
] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** The tokens of a call as the provider bills them. */
export interface BilledTokens {
  input: number;
  cached: number;
  written: number;
  output: number;
}

const event = (data: unknown, end = '\n', name?: string) =>
  `${name === undefined ? '' : `event: ${name}${end}`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}${end}`;

/** An answer of the provider, whole or as a stream, before it is bytes. */
export interface Answered {
  kind: StreamKind;
  model: string;
  text: string;
  call: BilledTokens;
  with_usage: boolean;
  lies: Record<string, unknown>;
}

function openAiUsage(
  { input, cached, written, output }: Answered['call'],
  names: [string, string],
  lies: object,
) {
  return {
    [names[0]]: input,
    [names[1]]: output,
    total_tokens: input + output,
    [`${names[0]}_details`]: { cached_tokens: cached, cache_write_tokens: written },
    ...lies,
  };
}

const chatUsage = ({ call, lies }: Answered) =>
  openAiUsage(call, ['prompt_tokens', 'completion_tokens'], lies);
const responsesUsage = ({ call, lies }: Answered) =>
  openAiUsage(call, ['input_tokens', 'output_tokens'], lies);
const messagesUsage = ({ call, lies }: Answered) => ({
  input_tokens: call.input - call.cached - call.written,
  cache_creation_input_tokens: call.written,
  cache_read_input_tokens: call.cached,
  output_tokens: call.output,
  ...lies,
});

function chatStream(answered: Answered): string {
  const { kind, model, text, with_usage } = answered;
  const end = kind === 'chat-crlf' ? '\r\n' : '\n';
  const chunk = (delta: object, finish: string | null = null) =>
    event(
      {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...(with_usage && { usage: null }),
      },
      end,
    );
  const tool = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'look', arguments: '{"at":"ü' },
  };
  return [
    kind === 'chat-crlf' ? `: a comment${end}${end}` : '',
    chunk({ role: 'assistant', content: '' }),
    ...(kind === 'chat-tools'
      ? [chunk({ tool_calls: [tool] }), chunk({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] })]
      : text.split(/(?= )/).map((part) => chunk({ content: part }))),
    chunk({}, kind === 'chat-tools' ? 'tool_calls' : 'stop'),
    with_usage
      ? event(
          {
            id: 'chatcmpl-1',
            object: 'chat.completion.chunk',
            created: 1,
            model,
            choices: [],
            usage: chatUsage(answered),
          },
          end,
        )
      : '',
    event('[DONE]', end),
  ].join('');
}

const responseBody = (answered: Answered, status: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: answered.model,
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status,
      content: [{ type: 'output_text', text: answered.text, annotations: [] }],
    },
  ],
  usage: responsesUsage(answered),
  ...(status === 'incomplete' && { incomplete_details: { reason: 'max_output_tokens' } }),
});

function responsesStream(answered: Answered): string {
  const status = answered.kind === 'responses' ? 'completed' : 'incomplete';
  const named = (type: string, more: object) => event({ type, ...more }, '\n', type);
  return [
    named('response.created', {
      response: { ...responseBody(answered, 'in_progress'), output: [], usage: null },
    }),
    ...answered.text
      .split(/(?= )/)
      .map((delta) =>
        named('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
      ),
    named(`response.${status}`, { response: responseBody(answered, status) }),
  ].join('');
}

const messageBody = (answered: Answered) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: answered.model,
  content: [{ type: 'text', text: answered.text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: messagesUsage(answered),
});

function messagesStream(answered: Answered): string {
  const named = (type: string, more: object) => event({ type, ...more }, '\n', type);
  const { output_tokens, ...input } = messagesUsage(answered);
  const block = (index: number, content_block: object, deltas: object[]) => [
    named('content_block_start', { index, content_block }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ];
  const thinks = answered.kind === 'messages-thinking';
  return [
    named('message_start', {
      message: {
        ...messageBody(answered),
        content: [],
        stop_reason: null,
        usage: { ...input, output_tokens: 1 },
      },
    }),
    named('ping', {}),
    ...(thinks
      ? block(0, { type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking: 'Grüße…' },
          { type: 'signature_delta', signature: 'c2ln' },
        ])
      : []),
    ...block(
      thinks ? 1 : 0,
      { type: 'text', text: '' },
      answered.text.split(/(?= )/).map((text) => ({ type: 'text_delta', text })),
    ),
    ...(thinks ? [named('message_delta', { delta: {}, usage: { output_tokens: 1 } })] : []),
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...input, output_tokens },
    }),
    named('message_stop', {}),
  ].join('');
}

/** The answer as one JSON body. */
export function wholeBody(answered: Answered): object {
  if (answered.kind.startsWith('responses'))
    return responseBody(answered, answered.kind === 'responses' ? 'completed' : 'incomplete');
  if (answered.kind.startsWith('messages')) return messageBody(answered);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: answered.model,
    choices: [{ index: 0, message: { role: 'assistant', content: answered.text }, finish_reason: 'stop' }],
    usage: chatUsage(answered),
  };
}

/** The answer as the events of its kind of stream. */
export function streamOf(answered: Answered): string {
  if (answered.kind.startsWith('responses')) return responsesStream(answered);
  return answered.kind.startsWith('messages') ? messagesStream(answered) : chatStream(answered);
}
