/** A member of the outermost object of a JSON text. Offsets are of bytes. */
export interface Member {
  value_start: number;
  value_end: number;
}

/** The outermost object of a JSON text. */
export interface Members {
  /** The offset after the opening brace. */
  inside: number;
  byName: ReadonlyMap<string, Member>;
}

/** A body that is no JSON object, or that two readers may read in two ways. `param` names the member. */
export class BodyError extends Error {
  override name = 'BodyError';
  readonly param: string | null;

  constructor(message: string, param: string | null = null) {
    super(message);
    this.param = param;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MAX_DEPTH = 200;

/** The offset after the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let end = start;
  for (;;) {
    end = bytes.indexOf(QUOTE, end + 1);
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

interface Level {
  names: Set<string> | null;
  name: string;
  /** In an object: whether the next string names a member. */
  is_name_next: boolean;
}

/**
 * Finds the members of the outermost object of a text that `JSON.parse` takes and that is an object. Throws a `BodyError`
 * for a name that is repeated in an object, at any depth: providers differ in which of the two counts.
 */
export function readMembers(bytes: Buffer): Members {
  const byName = new Map<string, Member>();
  const levels: Level[] = [];
  let inside = 0;
  let value_start = -1;
  /** The offset after the last byte that is no white space. */
  let value_end = -1;
  const endValue = () => {
    const [outermost] = levels;
    if (levels.length !== 1 || outermost === undefined || value_start < 0) return;
    byName.set(outermost.name, { value_start, value_end });
    value_start = -1;
  };
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    const level = levels.at(-1);
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (level?.is_name_next === true) {
        const name = JSON.parse(bytes.toString('utf8', at, end)) as string;
        if (level.names?.has(name)) {
          const path = [...levels.slice(0, -1).map((each) => each.name), name].filter((each) => each !== '');
          throw new BodyError(
            `The body has ${JSON.stringify(name.slice(0, 60))} twice in one object. Send each field once.`,
            path[0] ?? name,
          );
        }
        level.names?.add(name);
        level.name = name;
        level.is_name_next = false;
      } else if (levels.length === 1 && value_start < 0) value_start = at;
      value_end = end;
      at = end;
      continue;
    }
    switch (byte) {
      case 0x7b: // {
      case 0x5b: // [
        if (levels.length === 1) value_start = at;
        if (levels.length === 0) inside = at + 1;
        if (levels.length >= MAX_DEPTH)
          throw new BodyError(`The body is nested more than ${MAX_DEPTH} levels deep.`);
        levels.push({ names: byte === 0x7b ? new Set() : null, name: '', is_name_next: byte === 0x7b });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        endValue();
        levels.pop();
        value_end = at + 1;
        break;
      case 0x2c: // ,
        endValue();
        if (level !== undefined && level.names !== null) level.is_name_next = true;
        break;
      case 0x3a: // :
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        break;
      default:
        if (levels.length === 1 && value_start < 0) value_start = at;
        value_end = at + 1;
    }
    at += 1;
  }
  return { inside, byName };
}

/** The body with these members set, and every other byte as it was. A value is any JSON. */
export function spliceMembers(bytes: Buffer, members: Members, values: ReadonlyMap<string, unknown>): Buffer {
  if (values.size === 0) return bytes;
  const replaced = [...values]
    .flatMap(([name, value]) => {
      const member = members.byName.get(name);
      return member === undefined ? [] : [{ ...member, text: JSON.stringify(value) }];
    })
    .sort((a, b) => a.value_start - b.value_start);
  const added = [...values]
    .filter(([name]) => !members.byName.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const comma = added.length > 0 && members.byName.size > 0 ? ',' : '';
  const parts: Buffer[] = [bytes.subarray(0, members.inside), Buffer.from(added.join(',') + comma)];
  let from = members.inside;
  for (const { value_start, value_end, text } of replaced) {
    parts.push(bytes.subarray(from, value_start), Buffer.from(text));
    from = value_end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}
