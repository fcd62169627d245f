/** The files of the TypeScript client that name its methods. */
export interface ClientSources {
  /** `sdk/src/resources.ts`. */
  resources: string;
  /** `sdk/src/purser.ts`. */
  client: string;
}

/** A method of the TypeScript client: the route that it calls, and how. */
export interface ClientMethod {
  /** In Python's form. */
  name: string;
  doc: string | undefined;
  kind: 'call' | 'pages';
  method: string;
  /** With `:name` for each parameter. */
  path: string;
  /** Arguments before the body, in Python's form: those of the path, and what goes into `fixed_query`. */
  path_arguments: { name: string; type: 'str' | 'int' }[];
  takes_body: boolean;
  body_is_optional: boolean;
  sends_file: boolean;
  /** The name of the seconds in `_transport.py` that it may take longer than other calls. */
  takes_long: string | undefined;
  takes_query: boolean;
  /** An argument that is a parameter of the query, such as the seconds of a held look. */
  fixed_query: { name: string; argument: string } | undefined;
  keyed: 'call' | 'by the caller' | undefined;
  repeatable: boolean;
  shape: string | undefined;
  streamed: boolean;
  accept: string | undefined;
  if_match: boolean;
}

/** A class of methods, with the classes inside it by their names. */
export interface ClientClass {
  name: string;
  doc: string | undefined;
  nested: [string, string][];
  methods: ClientMethod[];
}

const CLASS =
  /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export class (\w+) extends Resource \{\n([\s\S]*?)^\}/gm;
const METHOD =
  /(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}(\w+)\(([^()]*)\): (?:API|Page)Promise<[^\n]*?> \{\n([\s\S]*?)^ {2}\}/gm;
const PROMISE = /\): (?:API|Page)Promise</g;

/**
 * The methods of the TypeScript client, read from its source, so that each is named in one place for all languages. Throws,
 * naming the class, for a method in a form that it does not know.
 */
export function readClientMethods({ resources, client }: ClientSources): {
  classes: ClientClass[];
  nouns: [string, string][];
} {
  const classes = [...resources.matchAll(CLASS)].map(([, doc, name, body]) =>
    classOf(name as string, doc, body as string),
  );
  return { classes, nouns: nounsOf(client, /this\.(\w+) = new resources\.(\w+)\(transport\)/g) };
}

const nounsOf = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, noun, type]): [string, string] => [
    snake(noun as string),
    type as string,
  ]);

/** `retrieveChanged` → `retrieve_changed`. */
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A docstring without what only TypeScript has. */
const inPython = (doc: string) =>
  doc
    .replace(/ `timeout` and `signal` end with its headers\./, '')
    .replace(/, unread: `response\.body` streams it/, ', line by line')
    .replace(/ `asResponse` gives [^.]*\./, '')
    .replace(/`([a-z]+[A-Z]\w*)`/g, (_, name: string) => `\`${snake(name)}\``);

const plain = (doc: string | undefined) => doc?.replace(/\n\s*\* ?/g, '\n').trim();

function classOf(name: string, doc: string | undefined, body: string): ClientClass {
  const methods = [...body.matchAll(METHOD)].map(([, about, method, given, text]) =>
    methodOf(name, plain(about), method as string, given as string, text as string),
  );
  if (methods.length !== [...body.matchAll(PROMISE)].length) {
    throw new Error(
      `sdk/src/resources.ts: a method of ${name} has a form that client-methods.ts cannot read`,
    );
  }
  return { name, doc: plain(doc), nested: nounsOf(body, /this\.(\w+) = new (\w+)\(transport\)/g), methods };
}

function methodOf(
  owner: string,
  doc: string | undefined,
  name: string,
  given: string,
  text: string,
): ClientMethod {
  const call = /this\.(call|pages)\(\s*(?:'([A-Z]+)',\s*)?'([^']+)'/.exec(text);
  if (call === null) throw new Error(`sdk/src/resources.ts: ${owner}.${name} calls no route`);
  const [, kind, method = 'GET', path] = call;
  const args = argumentsOf(given);
  const body = args.find((each) => /^t\.\w+$/.test(each.type) && each.name !== 'query');
  const fixed = args.find(
    (each) => each.type === 'number' && !new RegExp(`:${each.name}\\b`).test(path as string),
  );
  const flag = (pattern: RegExp) => pattern.exec(text)?.[1];
  return {
    name: snake(name),
    doc: doc === undefined ? undefined : inPython(doc),
    kind: kind as 'call' | 'pages',
    method,
    path: path as string,
    path_arguments: args
      .filter((each) => /^(string|number)$/.test(each.type))
      .map((each) => ({ name: snake(each.name), type: each.type === 'number' ? 'int' : 'str' })),
    takes_body: body !== undefined,
    body_is_optional: body?.has_default === true,
    sends_file: args.some((each) => each.type === 'FileContent'),
    takes_long: flag(/extra_ms: (\w+)_MS/),
    takes_query: args.some((each) => each.name === 'query'),
    fixed_query:
      fixed === undefined
        ? undefined
        : { name: flag(new RegExp(`(\\w+): ${fixed.name}\\b`)) as string, argument: fixed.name },
    keyed: /keyed: 'by the caller'/.test(text)
      ? 'by the caller'
      : /keyed: true/.test(text)
        ? 'call'
        : undefined,
    repeatable: /repeatable: true/.test(text),
    shape: flag(/shape: shapes\.(\w+)/),
    streamed: /streamed: true/.test(text),
    accept: flag(/accept: '([^']+)'/),
    if_match: /'if-match'/.test(text),
  };
}

function argumentsOf(given: string): { name: string; type: string; has_default: boolean }[] {
  return given
    .split(/,(?![^{]*\})/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [, name = '', type = '', value] = /^(\w+)\??:\s*([\s\S]*?)(\s=\s[\s\S]*)?$/.exec(each) ?? [];
      return { name, type, has_default: value !== undefined };
    });
}
