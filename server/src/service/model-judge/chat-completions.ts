import { OPINION_NAME, OPINION_SCHEMA, userText } from './prompt.ts';
import { bearer, countOf, fieldOf, formsOf, listOf, type Protocol, parametersFor } from './protocols.ts';

const RESPONSE_FORMATS = {
  schema: {
    response_format: {
      type: 'json_schema',
      json_schema: { name: OPINION_NAME, strict: true, schema: OPINION_SCHEMA },
    },
  },
  object: { response_format: { type: 'json_object' } },
  words: {},
};

/** The chat completions of OpenAI and of all that speak like it: vLLM, llama.cpp, Ollama, gateways. */
export const chatCompletions: Protocol = {
  name: 'chat',
  path: '/chat/completions',
  headers: bearer,
  body: (question) => ({
    ...parametersFor(question, question.form.is_lean ? 'max_completion_tokens' : 'max_tokens'),
    model: question.model,
    messages: [
      { role: 'system', content: question.prompt.system },
      { role: 'user', content: userText(question.prompt) },
    ],
    ...RESPONSE_FORMATS[question.form.output],
    stream: false,
  }),
  read(answer) {
    const [choice] = listOf(fieldOf(answer, 'choices'));
    const content = fieldOf(fieldOf(choice, 'message'), 'content');
    const usage = fieldOf(answer, 'usage');
    return {
      content: typeof content === 'string' ? content : null,
      usage:
        countOf(fieldOf(usage, 'prompt_tokens')) === 0
          ? null
          : {
              input_tokens: countOf(fieldOf(usage, 'prompt_tokens')),
              cached_tokens: countOf(fieldOf(fieldOf(usage, 'prompt_tokens_details'), 'cached_tokens')),
              output_tokens: countOf(fieldOf(usage, 'completion_tokens')),
            },
    };
  },
  forms: formsOf(['schema', 'object', 'words']),
};
