/** One event of a stream: its bytes as they came, the blank line included, and its data. */
export interface StreamEvent {
  bytes: Buffer;
  data: string;
}

const CR = 0x0d;
const LF = 0x0a;
/** An event that is longer is passed on unread. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

function dataOf(bytes: Buffer): string {
  const lines: string[] = [];
  for (const line of bytes.toString('utf8').split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  return lines.join('\n');
}

/** Cuts a stream of server-sent events into events, wherever the chunks are cut. No byte is lost or changed. */
export class EventCutter {
  #pending: Buffer[] = [];
  #pending_bytes = 0;
  /** Bytes on the line that is being read. */
  #line = 0;
  /** The last byte was a CR, whose LF may be in the next chunk. */
  #after_cr = false;
  /** A blank line was seen, and its end may lack an LF. */
  #ends = false;
  #gave_up = false;

  /** The events that end in this chunk. */
  push(chunk: Buffer): StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    const cut = (to: number) => {
      const bytes = Buffer.concat([...this.#pending, chunk.subarray(from, to)]);
      this.#pending = [];
      this.#pending_bytes = 0;
      from = to;
      this.#ends = false;
      events.push({ bytes, data: this.#gave_up ? '' : dataOf(bytes) });
      this.#gave_up = false;
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      const is_second_half = this.#after_cr && byte === LF;
      if (this.#ends) cut(is_second_half ? at + 1 : at);
      this.#after_cr = byte === CR;
      if (is_second_half) continue;
      if (byte !== CR && byte !== LF) {
        this.#line += 1;
        continue;
      }
      const is_blank = this.#line === 0;
      this.#line = 0;
      if (!is_blank) continue;
      if (byte === LF) cut(at + 1);
      else this.#ends = true;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from), events);
    return events;
  }

  /** The bytes that are left once the stream has ended. */
  end(): Buffer {
    const rest = Buffer.concat(this.#pending);
    this.#pending = [];
    return rest;
  }

  #keep(rest: Buffer, events: StreamEvent[]): void {
    this.#pending.push(rest);
    this.#pending_bytes += rest.length;
    if (this.#pending_bytes <= MAX_EVENT_BYTES) return;
    events.push({ bytes: Buffer.concat(this.#pending), data: '' });
    this.#pending = [];
    this.#pending_bytes = 0;
    this.#gave_up = true;
  }
}
