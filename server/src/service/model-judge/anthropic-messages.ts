import { OPINION_NAME, OPINION_SCHEMA } from './prompt.ts';
import { countOf, fieldOf, formsOf, listOf, type Protocol, parametersFor } from './protocols.ts';

const VERSION = '2023-06-01';
/** The API demands a limit; an opinion takes about 300 tokens. */
const DEFAULT_MAX_TOKENS = 1_000;

/** Up to here the text is the same for all spends under an authority, and need not be read again. */
const CACHED = { cache_control: { type: 'ephemeral' } };

/** The Messages of Anthropic. The form of the answer is that of a tool which the model is made to use. */
export const anthropicMessages: Protocol = {
  name: 'anthropic',
  path: '/messages',
  headers: (api_key) => ({
    'anthropic-version': VERSION,
    ...(api_key === null ? {} : { 'x-api-key': api_key }),
  }),
  body: (question) => {
    const { system, examples, spend } = question.prompt;
    const tool = {
      tools: [
        {
          name: OPINION_NAME,
          description: 'Takes your opinion on whether the spend serves the purpose.',
          input_schema: OPINION_SCHEMA,
        },
      ],
      tool_choice: { type: 'tool', name: OPINION_NAME, disable_parallel_tool_use: true },
    };
    return {
      max_tokens: DEFAULT_MAX_TOKENS,
      ...parametersFor(question, 'max_tokens'),
      model: question.model,
      system: [{ type: 'text', text: system, ...CACHED }],
      messages: [
        {
          role: 'user',
          content: [
            ...(examples === null ? [] : [{ type: 'text', text: examples, ...CACHED }]),
            { type: 'text', text: spend },
          ],
        },
      ],
      ...(question.form.output === 'schema' ? tool : {}),
      stream: false,
    };
  },
  read(answer) {
    const parts = listOf(fieldOf(answer, 'content'));
    const use = parts.find((part) => fieldOf(part, 'type') === 'tool_use');
    const input = fieldOf(use, 'input');
    const texts = parts.map((part) => fieldOf(part, 'text')).filter((text) => typeof text === 'string');
    const words = texts.length === 0 ? null : texts.join('');
    const usage = fieldOf(answer, 'usage');
    const read = countOf(fieldOf(usage, 'cache_read_input_tokens'));
    const input_tokens =
      countOf(fieldOf(usage, 'input_tokens')) + read + countOf(fieldOf(usage, 'cache_creation_input_tokens'));
    return {
      content: typeof input === 'object' && input !== null ? input : words,
      usage:
        input_tokens === 0
          ? null
          : { input_tokens, cached_tokens: read, output_tokens: countOf(fieldOf(usage, 'output_tokens')) },
    };
  },
  forms: formsOf(['schema', 'words']),
};
