import { type Fields, isFields } from '../fields.ts';
import type { Shape } from './routes.ts';
import { Refused } from './routes.ts';

/** Findings of a walk through a call's content. */
export interface Content {
  /** Messages, items and tools: each has some tokens of its own around it. */
  entries: number;
  /** Images that the body holds, and the bytes that they take in it. */
  images: number;
  image_bytes: number;
  /** Bytes of sealed texts, which may stand for more than they take. */
  sealed_bytes: number;
  /** Something that the model reads is not in the body, so nothing but the context window bounds it. */
  has_unseen: boolean;
}

const DATA_IMAGE = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]*={0,2}$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;

/** The entries of a list. An object in place of a list is its only entry, as a lenient reader may take it. */
const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isFields(value) ? [value] : [];

/** Parts whose texts are in the body as the model reads them. */
const TEXT_PARTS: Readonly<Record<string, readonly string[]>> = {
  chat: ['text', 'refusal'],
  responses: ['input_text', 'output_text', 'text', 'refusal', 'summary_text', 'reasoning_text'],
  messages: ['text', 'thinking', 'redacted_thinking', 'tool_use', 'search_result'],
};
/** Items of Responses whose whole content is in the body. Calls of hosted tools may stand for results that are not in it. */
const WHOLE_ITEMS = [
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'computer_call',
  'computer_call_output',
  'reasoning',
  'compaction',
];
const UNSEEN_ITEMS = [
  'item_reference',
  'file_search_call',
  'web_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
  'mcp_list_tools',
  'shell_call',
  'shell_call_output',
];
const UNSEEN_BLOCKS = [
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
];
/** Members that hold a text in sealed form. */
const SEALED = ['encrypted_content', 'signature', 'data'];

class Walk {
  readonly found: Content = { entries: 0, images: 0, image_bytes: 0, sealed_bytes: 0, has_unseen: false };
  readonly #shape: Shape;
  readonly #param: string;

  constructor(shape: Shape, param: string) {
    this.#shape = shape;
    this.#param = param;
  }

  /** A message's content: a text, or parts. */
  content(value: unknown): void {
    for (const part of listOf(value)) this.#part(part);
  }

  #part(part: unknown): void {
    if (typeof part === 'string') return;
    if (!isFields(part)) throw this.refusal('a content part without a type');
    const { type } = part;
    if (typeof type !== 'string') throw this.refusal('a content part without a type');
    this.sealed(part);
    if (TEXT_PARTS[this.#shape]?.includes(type)) return;
    switch (`${this.#shape} ${type}`) {
      case 'chat image_url':
        this.#dataImage(isFields(part.image_url) ? part.image_url.url : part.image_url);
        return;
      case 'responses input_image':
      case 'responses computer_screenshot':
        this.#dataImage(part.file_id == null ? part.image_url : null);
        return;
      case 'messages image':
        this.#sourceImage(part.source);
        return;
      case 'messages document':
        this.#document(part.source);
        return;
      case 'messages tool_result':
        this.content(part.content);
        return;
      case 'chat input_audio':
      case 'chat file':
      case 'responses input_file':
        this.found.has_unseen = true;
        return;
      default:
        if (this.#shape === 'messages' && UNSEEN_BLOCKS.includes(type)) this.found.has_unseen = true;
        else throw this.refusal(`content of the type ${JSON.stringify(type.slice(0, 60))}`);
    }
  }

  /** An entry of the input of Responses. */
  item(item: unknown): void {
    if (!isFields(item)) throw this.refusal('an item that is no object');
    this.sealed(item);
    const { type } = item;
    if (type === undefined || type === null || type === 'message') {
      // An item may be an id alone.
      if (item.content === undefined) this.found.has_unseen = true;
      this.content(item.content);
      return;
    }
    if (typeof type !== 'string') throw this.refusal('an item without a type');
    if (UNSEEN_ITEMS.includes(type)) this.found.has_unseen = true;
    else if (!WHOLE_ITEMS.includes(type))
      throw this.refusal(`an item of the type ${JSON.stringify(type.slice(0, 60))}`);
    // With its id alone the provider takes what it has stored.
    const is_sealed = type === 'reasoning' || type === 'compaction';
    if (is_sealed && typeof item.encrypted_content !== 'string') this.found.has_unseen = true;
    const { output } = item;
    if (type === 'computer_call_output') this.#part(output);
    else this.content(output);
  }

  sealed(fields: Fields): void {
    for (const name of SEALED) {
      const value = fields[name];
      if (typeof value === 'string') this.found.sealed_bytes += Buffer.byteLength(value);
    }
  }

  #image(bytes: number): void {
    this.found.images += 1;
    this.found.image_bytes += bytes;
  }

  #dataImage(url: unknown): void {
    if (typeof url === 'string' && DATA_IMAGE.test(url)) this.#image(url.length);
    else this.found.has_unseen = true;
  }

  #sourceImage(source: unknown): void {
    const { type, media_type, data } = isFields(source) ? source : ({} as Fields);
    const is_inside = type === 'base64' && typeof media_type === 'string' && IMAGE_TYPE.test(media_type);
    if (is_inside && typeof data === 'string' && BASE64.test(data)) this.#image(data.length);
    else this.found.has_unseen = true;
  }

  #document(source: unknown): void {
    const { type, content } = isFields(source) ? source : ({} as Fields);
    if (type === 'content') this.content(content);
    else if (type !== 'text') this.found.has_unseen = true;
  }

  /** The refusal of a call that holds this. */
  refusal(what: string): Refused {
    return new Refused(
      'unbounded_request',
      `The cost of this call has no bound: ${this.#param} holds ${what}, which this gateway does not know.`,
      this.#param,
    );
  }
}

/** Looks at everything that a model reads. Throws `Refused` for content of a kind that is not known to be bounded. */
export function readContent(shape: Shape, body: Fields): Content {
  const param = shape === 'responses' || shape === 'embeddings' ? 'input' : 'messages';
  const walk = new Walk(shape, param);
  const { found } = walk;
  if (shape === 'embeddings') {
    const { input } = body;
    const is_one = !Array.isArray(input) || typeof input[0] === 'number';
    found.entries = is_one ? 1 : input.length;
    return found;
  }
  found.entries = listOf(body.tools).length + listOf(body.functions).length + 1;
  if (shape === 'responses') {
    found.entries += listOf(body.input).length;
    for (const item of [...listOf(body.input), ...listOf(body.instructions)]) walk.item(item);
    for (const name of ['previous_response_id', 'conversation', 'prompt'])
      if (body[name] != null) found.has_unseen = true;
    return found;
  }
  if (shape === 'messages') walk.content(body.system);
  for (const message of listOf(body.messages)) {
    found.entries += 1;
    if (!isFields(message)) throw walk.refusal('a message that is no object');
    walk.content(message.content);
    // An audio answer of an earlier turn is referred to only by its id.
    if (message.audio != null) found.has_unseen = true;
  }
  return found;
}
