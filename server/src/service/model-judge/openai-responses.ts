import { OPINION_NAME, OPINION_SCHEMA, userText } from './prompt.ts';
import { bearer, countOf, fieldOf, formsOf, listOf, type Protocol, parametersFor } from './protocols.ts';

const TEXT_FORMATS = {
  schema: {
    text: { format: { type: 'json_schema', name: OPINION_NAME, strict: true, schema: OPINION_SCHEMA } },
  },
  object: { text: { format: { type: 'json_object' } } },
  words: {},
};

/** The Responses of OpenAI. Nothing is kept there (`store: false`). */
export const openAiResponses: Protocol = {
  name: 'responses',
  path: '/responses',
  headers: bearer,
  body: (question) => ({
    ...parametersFor(question, 'max_output_tokens'),
    model: question.model,
    instructions: question.prompt.system,
    input: [{ role: 'user', content: [{ type: 'input_text', text: userText(question.prompt) }] }],
    ...TEXT_FORMATS[question.form.output],
    store: false,
    stream: false,
  }),
  read(answer) {
    const texts = listOf(fieldOf(answer, 'output'))
      .filter((item) => fieldOf(item, 'type') === 'message')
      .flatMap((item) => listOf(fieldOf(item, 'content')))
      .filter((part) => fieldOf(part, 'type') === 'output_text')
      .map((part) => fieldOf(part, 'text'))
      .filter((text) => typeof text === 'string');
    const usage = fieldOf(answer, 'usage');
    return {
      // What was cut short at the limit of tokens is no answer.
      content: fieldOf(answer, 'status') === 'incomplete' || texts.length === 0 ? null : texts.join(''),
      usage:
        countOf(fieldOf(usage, 'input_tokens')) === 0
          ? null
          : {
              input_tokens: countOf(fieldOf(usage, 'input_tokens')),
              cached_tokens: countOf(fieldOf(fieldOf(usage, 'input_tokens_details'), 'cached_tokens')),
              output_tokens: countOf(fieldOf(usage, 'output_tokens')),
            },
    };
  },
  forms: formsOf(['schema', 'object', 'words']),
};
