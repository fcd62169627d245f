import type { Answer } from './transport.ts';

/** A response with its metadata. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** For whoever reads the service's log. */
  requestId: string;
  /** True if the service had answered the same `idempotency-key` before. */
  replayed: boolean;
}

/** A promise of the parsed body that can also give the raw answer. */
export class APIPromise<T> extends Promise<T> {
  readonly #answer: Promise<Answer>;
  readonly #parse: (data: unknown) => T;

  /** @internal */
  constructor(answer: Promise<Answer>, parse: (data: unknown) => T = (data) => data as T) {
    // Nobody waits for this one: `then` goes to the answer, so that a failure has one promise to be seen on.
    super(() => {});
    this.#answer = answer;
    this.#parse = parse;
  }

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(({ data }) => this.#parse(data)).then(onFulfilled, onRejected);
  }

  /** The raw answer, its body unread. Rejects as the call does. */
  async asResponse(): Promise<Response> {
    return (await this.#answer).response;
  }

  /** The data together with the raw answer. */
  async withResponse(): Promise<WithResponse<T>> {
    const { data, response, requestId } = await this.#answer;
    const replayed = response.headers.get('idempotent-replay') === 'true';
    return { data: this.#parse(data), response, requestId, replayed };
  }
}

/** One page of a list; iterating goes on over all that follow. */
export class Page<T> implements AsyncIterable<T> {
  readonly data: T[];
  readonly next_cursor: string | null;
  readonly #fetchPage: (cursor: string) => PagePromise<T>;

  /** @internal */
  constructor(
    page: { data: T[]; next_cursor: string | null },
    fetchPage: (cursor: string) => PagePromise<T>,
  ) {
    this.data = page.data;
    this.next_cursor = page.next_cursor;
    this.#fetchPage = fetchPage;
  }

  hasNextPage(): boolean {
    return this.next_cursor !== null;
  }

  /** The page after this one. Rejects with a `RangeError` on the last. */
  async getNextPage(): Promise<Page<T>> {
    if (this.next_cursor === null) throw new RangeError('This is the last page');
    return this.#fetchPage(this.next_cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* this.data;
    for (let page: Page<T> = this; page.hasNextPage(); ) {
      page = await page.getNextPage();
      yield* page.data;
    }
  }
}

/** A promise of the first page that can be iterated itself: `for await (const decision of client.decisions.list())`. */
export class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}
