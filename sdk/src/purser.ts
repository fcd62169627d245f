import { APIPromise } from './api-promise.ts';
import { type Authorization, type AuthorizeOptions, authorize } from './authorize.ts';
import { type PurserOptions, type RequestOptions, settingsOf } from './options.ts';
import * as resources from './resources.ts';
import { wake } from './review.ts';
import { shapes } from './shapes.ts';
import { type Grant, type PaymentResult, type SpendOptions, type Spent, spend } from './spend.ts';
import { type Call, Transport } from './transport.ts';
import type { SpendRequest, WebhookEvent } from './types.ts';

/** A client of the service with one key, or with the session of a person who is signed in. Makes no connection until it is used; safe to share. */
export class Purser {
  readonly decisions: resources.Decisions;
  readonly inbox: resources.Inbox;
  readonly capabilities: resources.Capabilities;
  readonly agents: resources.Agents;
  readonly budgets: resources.Budgets;
  readonly allowanceIssuers: resources.AllowanceIssuers;
  readonly allowances: resources.Allowances;
  readonly reviewPolicy: resources.ReviewPolicies;
  readonly channels: resources.Channels;
  readonly notices: resources.Notices;
  readonly authority: resources.AuthorityDrafts;
  readonly imports: resources.Imports;
  readonly lines: resources.Lines;
  readonly history: resources.History;
  readonly instruments: resources.Instruments;
  readonly rails: resources.Rails;
  readonly apiKeys: resources.ApiKeys;
  readonly webhookEndpoints: resources.WebhookEndpoints;
  readonly webhookDeliveries: resources.WebhookDeliveries;
  readonly events: resources.Events;
  readonly reports: resources.Reports;
  readonly search: resources.Search;
  readonly ledger: resources.Ledger;
  readonly audit: resources.Audit;
  readonly workspace: resources.Workspaces;
  readonly members: resources.Members;
  readonly invitations: resources.Invitations;
  readonly signIns: resources.SignIns;
  readonly me: resources.MyAccount;
  readonly signingKeys: resources.SigningKeys;
  readonly changes: resources.Changes;
  readonly #options: PurserOptions;
  readonly #transport: Transport;

  /** Throws a `TypeError` that names the option at fault. */
  constructor(options: PurserOptions = {}) {
    const transport = new Transport(settingsOf(options));
    this.#options = options;
    this.#transport = transport;
    this.decisions = new resources.Decisions(transport);
    this.inbox = new resources.Inbox(transport);
    this.capabilities = new resources.Capabilities(transport);
    this.agents = new resources.Agents(transport);
    this.budgets = new resources.Budgets(transport);
    this.allowanceIssuers = new resources.AllowanceIssuers(transport);
    this.allowances = new resources.Allowances(transport);
    this.reviewPolicy = new resources.ReviewPolicies(transport);
    this.channels = new resources.Channels(transport);
    this.notices = new resources.Notices(transport);
    this.authority = new resources.AuthorityDrafts(transport);
    this.imports = new resources.Imports(transport);
    this.lines = new resources.Lines(transport);
    this.history = new resources.History(transport);
    this.instruments = new resources.Instruments(transport);
    this.rails = new resources.Rails(transport);
    this.apiKeys = new resources.ApiKeys(transport);
    this.webhookEndpoints = new resources.WebhookEndpoints(transport);
    this.webhookDeliveries = new resources.WebhookDeliveries(transport);
    this.events = new resources.Events(transport);
    this.reports = new resources.Reports(transport);
    this.search = new resources.Search(transport);
    this.ledger = new resources.Ledger(transport);
    this.audit = new resources.Audit(transport);
    this.workspace = new resources.Workspaces(transport);
    this.members = new resources.Members(transport);
    this.invitations = new resources.Invitations(transport);
    this.signIns = new resources.SignIns(transport);
    this.me = new resources.MyAccount(transport);
    this.signingKeys = new resources.SigningKeys(transport);
    this.changes = new resources.Changes(transport);
  }

  /** The same client but for these options. */
  withOptions(options: Partial<PurserOptions>): Purser {
    return new Purser({ ...this.#options, ...options });
  }

  /**
   * Calls a route that has no method of its own, such as those that sign a person in. `path` begins with `/`. A POST is
   * sent again after a lost connection only with an `idempotencyKey`. Rejects as every method does.
   */
  request<T>(
    method: Call['method'],
    path: `/${string}`,
    given: { query?: object; body?: unknown } = {},
    options?: RequestOptions,
  ): APIPromise<T> {
    const keyed = options?.idempotencyKey === undefined ? {} : { keyed: 'by the caller' as const };
    return new APIPromise<T>(
      this.#transport.send({ method, path, ...given, options, shape: shapes.anything, ...keyed }),
    );
  }

  /**
   * Asks, and waits for a person when a review is due. Never pays. Resolves when the spend may be made; rejects with
   * a `SpendError` when not, with `PurserUnavailable` when Purser cannot be asked.
   */
  authorize(request: SpendRequest, options: AuthorizeOptions = {}): Promise<Authorization> {
    return authorize(this, this.#transport, request, options);
  }

  /**
   * Asks, waits, pays at most once for each `idempotencyKey`, reports. Resolves only when the money moved. Rejects
   * with a `SpendError`, a `PurserUnavailable`, an `AbortedError` or an `APIError`; of these only `SpendUncertain`
   * and `SpendUnfinished` leave open whether money moved.
   */
  spend<T extends PaymentResult>(
    request: SpendRequest,
    pay: (grant: Grant) => Promise<T>,
    options: SpendOptions = {},
  ): Promise<Spent<T>> {
    return spend(this, this.#transport, request, pay, options);
  }

  /** Wakes every `authorize` and `spend` of this process that waits for the decision of this event. */
  notify(event: WebhookEvent): void {
    wake(event);
  }
}
