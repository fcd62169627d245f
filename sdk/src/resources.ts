import { APIPromise, Page, PagePromise } from './api-promise.ts';
import type { RequestOptions } from './options.ts';
import { shapes } from './shapes.ts';
import type { Call, Transport } from './transport.ts';
import type * as t from './types.ts';

type Options = RequestOptions | undefined;
type Rest = Omit<Call, 'method' | 'path'>;

/** Routes that belong together: one method a route, with the types of the API. */
class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected call<T>(method: Call['method'], path: string, rest: Rest): APIPromise<T> {
    return new APIPromise<T>(this.#transport.send({ method, path, ...rest }));
  }

  protected pages<T>(path: string, rest: Rest): PagePromise<T> {
    return new PagePromise<T>(
      this.#transport.send({ method: 'GET', path, shape: shapes.page, ...rest }),
      (page) =>
        new Page<T>(page as Page<T>, (cursor) =>
          this.pages<T>(path, { ...rest, query: { ...rest.query, cursor } }),
        ),
    );
  }
}

/** Read-only links of one decision, for somebody outside the workspace. */
export class DecisionLinks extends Resource {
  /** `url` is shown only here. Not sent again after a lost connection. */
  create(id: string, body: t.CreateDecisionLinkRequest, options?: Options): APIPromise<t.NewDecisionLink> {
    return this.call('POST', '/v1/decisions/:id/links', { params: { id }, body, options });
  }
  /** Newest first, those that no longer open included. */
  list(id: string, query?: t.ListDecisionLinksQuery, options?: Options): PagePromise<t.DecisionLink> {
    return this.pages('/v1/decisions/:id/links', { params: { id }, query, options });
  }
  /** One link, without its token. */
  retrieve(id: string, linkId: string, options?: Options): APIPromise<t.DecisionLink> {
    return this.call('GET', '/v1/decisions/:id/links/:link_id', {
      params: { id, link_id: linkId },
      options,
    });
  }
  /** It stops opening at once; a repeat changes nothing. */
  delete(id: string, linkId: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/decisions/:id/links/:link_id', {
      params: { id, link_id: linkId },
      options,
    });
  }
}

/** Asking for spends, and what is known of them. */
export class Decisions extends Resource {
  readonly links: DecisionLinks;

  constructor(transport: Transport) {
    super(transport);
    this.links = new DecisionLinks(transport);
  }

  /** Asks whether a spend may be made. Without `idempotencyKey` each call is a question of its own. */
  create(body: t.DecisionRequest, options?: Options): APIPromise<t.Decision> {
    return this.call('POST', '/v1/decisions', { body, options, keyed: true, shape: shapes.decision });
  }
  /** As it stands now. */
  retrieve(id: string, options?: Options): APIPromise<t.Decision> {
    return this.call('GET', '/v1/decisions/:id', { params: { id }, options, shape: shapes.decision });
  }
  /** As it stands once its review or outcome has changed, or after `seconds` (1 to 25). */
  retrieveChanged(id: string, seconds: number, options?: Options): APIPromise<t.Decision> {
    const query: t.GetDecisionQuery = { wait_seconds: seconds };
    return this.call('GET', '/v1/decisions/:id', {
      params: { id },
      query,
      options,
      extra_ms: seconds * 1000,
      shape: shapes.decision,
    });
  }
  /** Newest first, unless `order` is `asc`. */
  list(query?: t.DecisionListQuery, options?: Options): PagePromise<t.Decision> {
    return this.pages('/v1/decisions', { query, options });
  }
  /** All that `query` finds, as CSV or JSON Lines, unread: `response.body` streams it. `timeout` and `signal` end with its headers. */
  export(query: t.ExportDecisionsQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/decisions/export', { query, options, streamed: true });
  }
  /** The page to print, as HTML, unread: `response.text()` reads it. `timeout` and `signal` end with its headers. */
  page(id: string, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/decisions/:id/page', {
      params: { id },
      options,
      streamed: true,
      accept: 'text/html',
    });
  }
  /** Everything that a reviewer needs to know of a decision: facts first, the agent's own words last and shortened. */
  sheet(id: string, options?: Options): APIPromise<t.Sheet> {
    return this.call('GET', '/v1/decisions/:id/sheet', { params: { id }, options });
  }
  /** Notes something for colleagues, and may assign the review. Not sent again after a lost connection. */
  note(id: string, body: t.NoteRequest, options?: Options): APIPromise<t.Note> {
    return this.call('POST', '/v1/decisions/:id/notes', { params: { id }, body, options });
  }
  /** A person's word on a decision that waits for one. Not sent again after a lost connection. */
  review(id: string, body: t.ReviewRequest, options?: Options): APIPromise<t.RecordedReview> {
    return this.call('POST', '/v1/decisions/:id/reviews', { params: { id }, body, options });
  }
  /** The statement that the caller's signing key must sign for a signed review. Only with a session. */
  beginSignedReview(
    id: string,
    body: t.ReviewStatementRequest,
    options?: Options,
  ): APIPromise<t.StatementToSign> {
    return this.call('POST', '/v1/decisions/:id/reviews/statement', {
      params: { id },
      body,
      options,
      repeatable: true,
    });
  }
  /** All reviews, oldest first. */
  listReviews(id: string, options?: Options): PagePromise<t.Review> {
    return this.pages('/v1/decisions/:id/reviews', { params: { id }, options });
  }
  /** Whether the spend fit the purpose. Not sent again after a lost connection. */
  label(id: string, body: t.LabelRequest, options?: Options): APIPromise<t.Label> {
    return this.call('POST', '/v1/decisions/:id/labels', { params: { id }, body, options });
  }
  /** All labels, oldest first. */
  listLabels(id: string, options?: Options): PagePromise<t.Label> {
    return this.pages('/v1/decisions/:id/labels', { params: { id }, options });
  }
  /** Reports the outcome of the spend. An exact repeat is safe. */
  reportOutcome(id: string, body: t.OutcomeRequest, options?: Options): APIPromise<t.Outcome> {
    return this.call('POST', '/v1/decisions/:id/outcomes', {
      params: { id },
      body,
      options,
      repeatable: true,
      shape: shapes.outcome,
    });
  }
  listOutcomes(id: string, options?: Options): PagePromise<t.Outcome> {
    return this.pages('/v1/decisions/:id/outcomes', { params: { id }, options });
  }
}

/** The reviews that are pending. */
export class Inbox extends Resource {
  /** One page with its total, and with `group` the groups of all pages. `next_cursor` is the `cursor` of the next page. */
  retrieve(query?: t.GetInboxQuery, options?: Options): APIPromise<t.Inbox> {
    return this.call('GET', '/v1/inbox', { query, options });
  }
}

/** The leave to make one payment, at the payment point. */
export class Capabilities extends Resource {
  /** Exactly one of any number of consumers succeeds. Pay only when this resolves. */
  consume(
    body: t.ConsumeRequest,
    options: RequestOptions & { idempotencyKey: string },
  ): APIPromise<t.Consumption> {
    const rest = { body, options, keyed: 'by the caller', shape: shapes.consumption } as const;
    return this.call('POST', '/v1/capabilities/consume', rest);
  }
}

/** Authorities of agents; every `set` creates a new version. */
export class Authorities extends Resource {
  /**
   * Not sent again after a lost connection: that would make two versions. With `ifMatch`, the hash of a version, only if it
   * is still the current one; else `authority_changed`.
   */
  set(
    idOrSlug: string,
    body: t.AuthorityRequest,
    options?: RequestOptions & { ifMatch?: string | undefined },
  ): APIPromise<t.AuthorityVersion> {
    const { ifMatch, ...rest } = options ?? {};
    const headers = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` };
    return this.call('POST', '/v1/agents/:id/authority', {
      params: { id: idOrSlug },
      body,
      options: { ...rest, headers: { ...headers, ...rest.headers } },
    });
  }
  /** All versions, newest first. */
  listVersions(
    idOrSlug: string,
    query?: t.ListAuthorityVersionsQuery,
    options?: Options,
  ): PagePromise<t.AuthorityVersion> {
    return this.pages('/v1/agents/:id/authority/versions', { params: { id: idOrSlug }, query, options });
  }
  retrieve(idOrSlug: string, query?: t.GetAuthorityQuery, options?: Options): APIPromise<t.AuthorityVersion> {
    return this.call('GET', '/v1/agents/:id/authority', { params: { id: idOrSlug }, query, options });
  }
  /** How the newest authority is read: what it wants, forbids and demands, and ten spends with what would become of them. */
  reading(idOrSlug: string, options?: Options): APIPromise<t.AuthorityReading> {
    return this.call('GET', '/v1/agents/:id/authority/reading', { params: { id: idOrSlug }, options });
  }
  /** What a draft would have decided of the agent's recent spends. Nothing is saved. */
  simulate(
    idOrSlug: string,
    draft: t.Authority,
    query?: t.SimulateAuthorityQuery,
    options?: Options,
  ): APIPromise<t.Simulation> {
    return this.call('POST', '/v1/agents/:id/authority/simulate', {
      params: { id: idOrSlug },
      body: draft,
      query,
      options,
    });
  }
}

/** The merchants that people list for an agent, whatever its authority says. */
export class Merchants extends Resource {
  /** Merchants that the agent pays and that are not listed, the most frequent first. */
  suggestions(
    idOrSlug: string,
    query?: t.SuggestMerchantsQuery,
    options?: Options,
  ): PagePromise<t.MerchantSuggestion> {
    return this.pages('/v1/agents/:id/merchants/suggestions', { params: { id: idOrSlug }, query, options });
  }
  /** All or none; they hold from the next decision on. An exact repeat adds nothing. */
  add(idOrSlug: string, body: t.ListMerchantsRequest, options?: Options): APIPromise<t.ListedMerchants> {
    return this.call('POST', '/v1/agents/:id/merchants', {
      params: { id: idOrSlug },
      body,
      options,
      repeatable: true,
    });
  }
  /** Those in force, newest first. */
  list(idOrSlug: string, query?: t.GetListedMerchantsQuery, options?: Options): PagePromise<t.MerchantEntry> {
    return this.pages('/v1/agents/:id/merchants', { params: { id: idOrSlug }, query, options });
  }
  /** Ends an entry; a repeat changes nothing. */
  delete(idOrSlug: string, entryId: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/agents/:id/merchants/:entry_id', {
      params: { id: idOrSlug, entry_id: entryId },
      options,
    });
  }
}

/** Questions that an agent's spends raised, and the answers of people. */
export class Questions extends Resource {
  /** The one that was asked or answered last comes first. */
  list(idOrSlug: string, query?: t.ListQuestionsQuery, options?: Options): PagePromise<t.AskedQuestion> {
    return this.pages('/v1/agents/:id/questions', { params: { id: idOrSlug }, query, options });
  }
  /** It counts from the next decision on, and replaces an earlier answer. */
  answer(
    idOrSlug: string,
    questionId: string,
    body: t.AnswerRequest,
    options?: Options,
  ): APIPromise<t.AskedQuestion> {
    return this.call('POST', '/v1/agents/:id/questions/:question_id/answer', {
      params: { id: idOrSlug, question_id: questionId },
      body,
      options,
      repeatable: true,
    });
  }
  /** Opens the question again; a repeat changes nothing. */
  forget(idOrSlug: string, questionId: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/agents/:id/questions/:question_id/answer', {
      params: { id: idOrSlug, question_id: questionId },
      options,
    });
  }
  /** The open questions of pending reviews, that of the most reviews first. */
  pending(query?: t.ListPendingQuestionsQuery, options?: Options): PagePromise<t.PendingQuestion> {
    return this.pages('/v1/questions', { query, options });
  }
}

/** Drafts of what an agent may be allowed. */
export class AuthorityDrafts extends Resource {
  /** How a draft would be read, with ten spends and what would become of them. Nothing is saved. */
  reading(draft: t.Authority, options?: Options): APIPromise<t.AuthorityReading> {
    return this.call('POST', '/v1/authority/reading', { body: draft, options, repeatable: true });
  }
  /** Tests an authority on example spends at given times. Nothing is saved. */
  test(given: t.AuthorityTestRequest, options?: Options): APIPromise<t.AuthorityTest> {
    return this.call('POST', '/v1/authority/test', { body: given, options, repeatable: true });
  }
}

export class Agents extends Resource {
  readonly authority: Authorities;
  readonly merchants: Merchants;
  readonly questions: Questions;

  constructor(transport: Transport) {
    super(transport);
    this.authority = new Authorities(transport);
    this.merchants = new Merchants(transport);
    this.questions = new Questions(transport);
  }

  /** Not sent again after a lost connection. */
  create(body: t.CreateAgentRequest, options?: Options): APIPromise<t.Agent> {
    return this.call('POST', '/v1/agents', { body, options });
  }
  retrieve(idOrSlug: string, options?: Options): APIPromise<t.AgentWithBudgets> {
    return this.call('GET', '/v1/agents/:id', { params: { id: idOrSlug }, options });
  }
  /** How its limits over time stand: of the month, and those of its authority. */
  limits(idOrSlug: string, options?: Options): PagePromise<t.LimitStanding> {
    return this.pages('/v1/agents/:id/limits', { params: { id: idOrSlug }, options });
  }
  list(query?: t.ListAgentsQuery, options?: Options): PagePromise<t.AgentWithBudgets> {
    return this.pages('/v1/agents', { query, options });
  }
  update(idOrSlug: string, body: t.UpdateAgentRequest, options?: Options): APIPromise<t.Agent> {
    return this.call('PATCH', '/v1/agents/:id', { params: { id: idOrSlug }, body, options });
  }
}

/** The review policy: who may allow a request, and how many must. */
export class ReviewPolicies extends Resource {
  /** The newest version, or the one that is named. */
  retrieve(query?: t.GetReviewPolicyQuery, options?: Options): APIPromise<t.ReviewPolicyVersion> {
    return this.call('GET', '/v1/review-policy', { query, options });
  }
  /** Puts the next version; with `ifMatch`, the hash of a version, only if that is the newest. */
  put(
    body: t.ReviewPolicyRequest,
    options?: RequestOptions & { ifMatch?: string | undefined },
  ): APIPromise<t.ReviewPolicyVersion> {
    const { ifMatch, ...rest } = options ?? {};
    const headers = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` };
    const given = { ...rest, headers: { ...headers, ...rest.headers } };
    return this.call('PUT', '/v1/review-policy', { body, options: given });
  }
  versions(query?: t.ListReviewPolicyVersionsQuery, options?: Options): PagePromise<t.ReviewPolicyVersion> {
    return this.pages('/v1/review-policy/versions', { query, options });
  }
}

/** Budgets that several agents share. Authorities name a budget by its slug. */
export class Budgets extends Resource {
  /** Not sent again after a lost connection. */
  create(body: t.CreateBudgetRequest, options?: Options): APIPromise<t.Budget> {
    return this.call('POST', '/v1/budgets', { body, options });
  }
  /** As it stands now. */
  retrieve(idOrSlug: string, options?: Options): APIPromise<t.Budget> {
    return this.call('GET', '/v1/budgets/:id', { params: { id: idOrSlug }, options });
  }
  list(query?: t.ListBudgetsQuery, options?: Options): PagePromise<t.Budget> {
    return this.pages('/v1/budgets', { query, options });
  }
  /** Its name, limit or status; the rest is fixed for good. */
  update(idOrSlug: string, body: t.UpdateBudgetRequest, options?: Options): APIPromise<t.Budget> {
    return this.call('PATCH', '/v1/budgets/:id', { params: { id: idOrSlug }, body, options });
  }
}

/** Other systems whose signed allowances are taken. */
export class AllowanceIssuers extends Resource {
  /** Not sent again after a lost connection. */
  create(body: t.CreateAllowanceIssuerRequest, options?: Options): APIPromise<t.AllowanceIssuer> {
    return this.call('POST', '/v1/allowance-issuers', { body, options });
  }
  /** Newest first, revoked ones included. */
  list(query?: t.ListAllowanceIssuersQuery, options?: Options): PagePromise<t.AllowanceIssuer> {
    return this.pages('/v1/allowance-issuers', { query, options });
  }
  /** Nothing new of it is accepted; what it issued stays. A repeat changes nothing. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/allowance-issuers/:id', { params: { id }, options });
  }
}

/** Caps on what may be spent for one task, sub-agent, user or customer. */
export class Allowances extends Resource {
  /** Sent again after a lost connection if `external_id` is given. */
  create(body: t.CreateAllowanceRequest, options?: Options): APIPromise<t.NewAllowance> {
    const repeatable = body.external_id !== undefined;
    return this.call('POST', '/v1/allowances', { body, repeatable, options });
  }
  /** All or none; up to 100. */
  createMany(body: t.CreateAllowancesRequest, options?: Options): APIPromise<t.CreatedAllowances> {
    return this.call('POST', '/v1/allowances/batch', { body, options });
  }
  /** With `wait_seconds` it waits for the decision on a requested one. */
  retrieve(id: string, query?: t.GetAllowanceQuery, options?: Options): APIPromise<t.Allowance> {
    return this.call('GET', '/v1/allowances/:id', { params: { id }, query, options });
  }
  list(query?: t.ListAllowancesQuery, options?: Options): PagePromise<t.Allowance> {
    return this.pages('/v1/allowances', { query, options });
  }
  /** Its name, amount or expiry; the rest is fixed for good. */
  update(id: string, body: t.UpdateAllowanceRequest, options?: Options): APIPromise<t.Allowance> {
    return this.call('PATCH', '/v1/allowances/:id', { params: { id }, body, options });
  }
  /** Makes the allowance that an issuer, or a payer's mandate, signed; presented again it is the same one. */
  present(body: t.PresentAllowanceRequest, options?: Options): APIPromise<t.Allowance> {
    const shape = shapes.allowance;
    return this.call('POST', '/v1/allowances/present', { body, repeatable: true, shape, options });
  }
  /** Permits nothing until a person decides it. Sent again after a lost connection if `external_id` is given. */
  request(body: t.RequestAllowanceRequest, options?: Options): APIPromise<t.Allowance> {
    const repeatable = body.external_id !== undefined;
    return this.call('POST', '/v1/allowances/request', { body, repeatable, options });
  }
  /** Once and for all. Only a `purpose` that is sent here vouches for spends. */
  decide(id: string, body: t.DecideAllowanceRequest, options?: Options): APIPromise<t.Allowance> {
    return this.call('POST', '/v1/allowances/:id/decide', { params: { id }, body, options });
  }
  /** It and all below it permit nothing from the next request on. */
  revoke(id: string, body: t.RevokeAllowanceRequest = {}, options?: Options): APIPromise<t.Allowance> {
    return this.call('POST', '/v1/allowances/:id/revoke', { params: { id }, body, options });
  }
}

/** The channels that are notified of requests. */
export class Channels extends Resource {
  /** The secret of a `webhook` is shown in this answer alone. Not sent again after a lost connection. */
  create(body: t.CreateChannelRequest, options?: Options): APIPromise<t.NewChannel> {
    return this.call('POST', '/v1/channels', { body, options });
  }
  retrieve(id: string, options?: Options): APIPromise<t.Channel> {
    return this.call('GET', '/v1/channels/:id', { params: { id }, options });
  }
  list(query?: t.ListChannelsQuery, options?: Options): PagePromise<t.Channel> {
    return this.pages('/v1/channels', { query, options });
  }
  update(id: string, body: t.UpdateChannelRequest, options?: Options): APIPromise<t.Channel> {
    return this.call('PATCH', '/v1/channels/:id', { params: { id }, body, options });
  }
  /** Ends its notices, pending ones included. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/channels/:id', { params: { id }, options });
  }
  /** Sends a test notice to this channel. */
  test(id: string, options?: Options): APIPromise<t.ChannelTest> {
    return this.call('POST', '/v1/channels/:id/test', { params: { id }, options });
  }
}

/** The notices that were sent, or will be. */
export class Notices extends Resource {
  /** Newest first. */
  list(query?: t.ListNoticesQuery, options?: Options): PagePromise<t.Notice> {
    return this.pages('/v1/notices', { query, options });
  }
}

export class ApiKeys extends Resource {
  /** The key's value is shown in this answer alone. Not sent again after a lost connection. */
  create(body: t.CreateApiKeyRequest, options?: Options): APIPromise<t.NewApiKey> {
    return this.call('POST', '/v1/api-keys', { body, options });
  }
  list(query?: t.ListApiKeysQuery, options?: Options): PagePromise<t.ApiKey> {
    return this.pages('/v1/api-keys', { query, options });
  }
  /** Returns this client's own key: its scopes and its agent. */
  current(options?: Options): APIPromise<t.CurrentApiKey> {
    return this.call('GET', '/v1/api-keys/current', { options });
  }
  /** Revokes it; a repeat changes nothing. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/api-keys/:id', { params: { id }, options });
  }
}

export class WebhookEndpoints extends Resource {
  /** The secret is shown in this answer alone. Not sent again after a lost connection. */
  create(body: t.CreateWebhookRequest, options?: Options): APIPromise<t.NewWebhook> {
    return this.call('POST', '/v1/webhooks', { body, options });
  }
  list(query?: t.ListWebhooksQuery, options?: Options): PagePromise<t.WebhookItem> {
    return this.pages('/v1/webhooks', { query, options });
  }
  retrieve(id: string, options?: Options): APIPromise<t.WebhookItem> {
    return this.call('GET', '/v1/webhooks/:id', { params: { id }, options });
  }
  update(id: string, body: t.UpdateWebhookRequest, options?: Options): APIPromise<t.Webhook> {
    return this.call('PATCH', '/v1/webhooks/:id', { params: { id }, body, options });
  }
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/webhooks/:id', { params: { id }, options });
  }
  /** The new secret is shown in this answer alone. Not sent again after a lost connection. */
  rotateSecret(
    id: string,
    body: t.RotateWebhookSecretRequest = {},
    options?: Options,
  ): APIPromise<t.RotatedWebhook> {
    return this.call('POST', '/v1/webhooks/:id/rotate-secret', { params: { id }, body, options });
  }
  /** Sends a `webhook.test` event to it. */
  test(id: string, options?: Options): APIPromise<t.WebhookTest> {
    return this.call('POST', '/v1/webhooks/:id/test', { params: { id }, options });
  }
}

export class WebhookDeliveries extends Resource {
  /** Attempts and their results. */
  list(query?: t.ListWebhookDeliveriesQuery, options?: Options): PagePromise<t.WebhookAttempt> {
    return this.pages('/v1/webhooks/deliveries', { query, options });
  }
  /** One attempt, with the headers it was sent with; `events.retrieve` has the body. */
  retrieve(id: string, options?: Options): APIPromise<t.SentWebhookAttempt> {
    return this.call('GET', '/v1/webhooks/deliveries/:id', { params: { id }, options });
  }
  /** Sends kept events to the endpoint once more. */
  replay(endpointId: string, body: t.ReplayWebhookRequest, options?: Options): APIPromise<t.WebhookReplay> {
    return this.call('POST', '/v1/webhooks/:id/replay', { params: { id: endpointId }, body, options });
  }
}

/** Webhook events, for receivers that were down. */
export class Events extends Resource {
  /** Oldest first, after the one that `after` names. */
  list(query?: t.ListEventsQuery, options?: Options): PagePromise<t.EventPage['data'][number]> {
    return this.pages('/v1/events', { query, options });
  }
  /** One of them, as it is delivered. `asResponse` gives the very bytes that signatures are made over. */
  retrieve(id: string, options?: Options): APIPromise<t.WebhookEvent> {
    return this.call('GET', '/v1/webhooks/events/:id', { params: { id }, options });
  }
}

export class Reports extends Resource {
  /** Returns the shadow report. */
  shadow(query?: t.GetShadowReportQuery, options?: Options): APIPromise<t.ShadowReport> {
    return this.call('GET', '/v1/reports/shadow', { query, options });
  }
  /** The tables of the same as CSV, unread. */
  shadowCsv(query?: t.GetShadowReportQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/reports/shadow', { query, options, streamed: true, accept: 'text/csv' });
  }
  /** The decisions of both modes, and what waits for a person now. */
  overview(query?: t.GetOverviewQuery, options?: Options): APIPromise<t.Overview> {
    return this.call('GET', '/v1/reports/overview', { query, options });
  }
  /** Requested amounts over time, and the agents or merchants with the largest. */
  spending(query?: t.GetSpendingQuery, options?: Options): APIPromise<t.Spending> {
    return this.call('GET', '/v1/reports/spending', { query, options });
  }
  /** Returns the sums of each value of a label of allowances, such as each customer. */
  allowances(query: t.GetAllowanceReportQuery, options?: Options): APIPromise<t.AllowanceReport> {
    return this.call('GET', '/v1/reports/allowances', { query, options });
  }
  /** The same as CSV, unread. */
  allowancesCsv(query: t.GetAllowanceReportQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/reports/allowances', { query, options, streamed: true, accept: 'text/csv' });
  }
  /** How much of what was paid was asked for. */
  coverage(query?: t.GetCoverageReportQuery, options?: Options): APIPromise<t.CoverageReport> {
    return this.call('GET', '/v1/reports/coverage', { query, options });
  }
  /** Its days as CSV, unread. */
  coverageCsv(query?: t.GetCoverageReportQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/reports/coverage', { query, options, streamed: true, accept: 'text/csv' });
  }
  /** How the monthly budget of an agent is used up. */
  agentBurnDown(id: string, options?: Options): APIPromise<t.BurnDowns> {
    return this.call('GET', '/v1/agents/:id/burn-down', { params: { id }, options });
  }
  /** How a shared budget is used up. */
  budgetBurnDown(id: string, options?: Options): APIPromise<t.BurnDown> {
    return this.call('GET', '/v1/budgets/:id/burn-down', { params: { id }, options });
  }
}

/** Everything with a text that contains `q`. */
export class Search extends Resource {
  list(query: t.SearchQuery, options?: Options): PagePromise<t.SearchHit> {
    return this.pages('/v1/search', { query, options });
  }
}

/** The hash-chained history. */
export class Ledger extends Resource {
  events(query?: t.ListLedgerEventsQuery, options?: Options): PagePromise<t.LedgerEvent> {
    return this.pages('/v1/ledger/events', { query, options });
  }
  /** All that `query` finds, as CSV, unread: `response.body` streams it. `timeout` and `signal` end with its headers. */
  eventsCsv(query?: t.ListLedgerEventsQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/ledger/events', { query, options, streamed: true, accept: 'text/csv' });
  }
  /** One event, by its number in the chain. */
  event(seq: number, options?: Options): APIPromise<t.LedgerEvent> {
    return this.call('GET', '/v1/ledger/events/:seq', { params: { seq: String(seq) }, options });
  }
  /** Signed notes of where the chain stood, newest first. */
  checkpoints(query?: t.ListCheckpointsQuery, options?: Options): PagePromise<t.SignedCheckpoint> {
    return this.pages('/v1/ledger/checkpoints', { query, options });
  }
  /** Builds the chain again from the rows. Give a long history a long `timeout`. */
  verify(query?: t.VerifyLedgerQuery, options?: Options): APIPromise<t.LedgerVerification> {
    return this.call('GET', '/v1/ledger/verify', { query, options });
  }
  /** The history as JSON Lines, unread: `response.body` streams it. `timeout` and `signal` end with its headers. */
  export(query?: t.ExportLedgerQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/ledger/export', { query, options, streamed: true });
  }
}

/** Administrative events. */
export class Audit extends Resource {
  list(query?: t.ListAuditRecordsQuery, options?: Options): PagePromise<t.AuditRecord> {
    return this.pages('/v1/audit', { query, options });
  }
  /** All that `query` finds, as CSV, unread: `response.body` streams it. `timeout` and `signal` end with its headers. */
  csv(query?: t.ListAuditRecordsQuery, options?: Options): APIPromise<Response> {
    return this.call('GET', '/v1/audit', { query, options, streamed: true, accept: 'text/csv' });
  }
}

/** Changes, for a screen that stays up to date. */
export class Changes extends Resource {
  /** Since the `seq` of an earlier answer; without `since` only the present one. */
  retrieve(query?: t.GetChangesQuery, options?: Options): APIPromise<t.Changes> {
    return this.call('GET', '/v1/changes', { query, options });
  }
}

/** Plan, trial and quotas. */
export class Workspaces extends Resource {
  retrieve(options?: Options): APIPromise<t.Workspace> {
    return this.call('GET', '/v1/workspace', { options });
  }
  /** Its name, the mode of new agents, or who may review. */
  update(body: t.UpdateWorkspaceRequest, options?: Options): APIPromise<t.Workspace> {
    return this.call('PATCH', '/v1/workspace', { body, options });
  }
  /** Stops all agents at once: nothing is decided and nothing can be paid until `resume`. */
  stop(body: t.StopRequest, options?: Options): APIPromise<t.Workspace> {
    return this.call('POST', '/v1/workspace/stop', { body, options });
  }
  /** Ends a stop. */
  resume(options?: Options): APIPromise<t.Workspace> {
    return this.call('POST', '/v1/workspace/resume', { options });
  }
  /** A second workspace with a month of invented data, for a person who is signed in. The answer takes some seconds. */
  createSample(options?: Options): APIPromise<t.Sample> {
    return this.call('POST', '/v1/workspace/sample', { options, repeatable: true });
  }
  /** Removes the current workspace if it is a sample, and nothing otherwise. */
  removeSample(options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/workspace/sample', { options });
  }
}

/** Members of the workspace and their roles. */
export class Members extends Resource {
  list(query?: t.ListMembersQuery, options?: Options): PagePromise<t.Member> {
    return this.pages('/v1/members', { query, options });
  }
  /** Another role ends the member's sessions, and unless `keep_keys` the admin keys of a former administrator. */
  update(
    user_id: string,
    body: t.UpdateMemberRequest,
    query?: t.UpdateMemberQuery,
    options?: Options,
  ): APIPromise<t.Member> {
    return this.call('PATCH', '/v1/members/:user_id', { params: { user_id }, body, query, options });
  }
  /** Revokes the member's admin keys too, unless `keep_keys`. */
  delete(user_id: string, query?: t.RemoveMemberQuery, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/members/:user_id', {
      params: { user_id },
      query,
      options,
    });
  }
}

export class Invitations extends Resource {
  /** The link is only in this answer. Not sent again after a lost connection. */
  create(body: t.CreateInvitationRequest, options?: Options): APIPromise<t.NewInvitation> {
    return this.call('POST', '/v1/invitations', { body, options });
  }
  list(query?: t.ListInvitationsQuery, options?: Options): PagePromise<t.Invitation> {
    return this.pages('/v1/invitations', { query, options });
  }
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/invitations/:id', { params: { id }, options });
  }
}

/** Sign-ins, including refused ones. */
export class SignIns extends Resource {
  list(query?: t.ListSignInsQuery, options?: Options): PagePromise<t.SignIn> {
    return this.pages('/v1/sign-ins', { query, options });
  }
}

/** The person who is signed in: only with `credentials`, never with a key. */
export class MyAccount extends Resource {
  retrieve(options?: Options): APIPromise<t.Me> {
    return this.call('GET', '/v1/me', { options });
  }
  update(body: t.UpdateMeRequest, options?: Options): APIPromise<t.Me> {
    return this.call('PATCH', '/v1/me', { body, options });
  }
  /** When and how the person is notified of requests. */
  notifications(options?: Options): APIPromise<t.NotificationSettings> {
    return this.call('GET', '/v1/me/notifications', { options });
  }
  updateNotifications(
    body: t.NotificationSettingsRequest,
    options?: Options,
  ): APIPromise<t.NotificationSettings> {
    return this.call('PUT', '/v1/me/notifications', { body, options });
  }
  /** Lends the person's place in reviews. */
  setAway(body: t.AwayRequest, options?: Options): APIPromise<t.Away> {
    return this.call('PUT', '/v1/me/away', { body, options });
  }
  endAway(options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/away', { options });
  }
  /** The person's account in Slack, whose clicks are their reviews. */
  slack(options?: Options): APIPromise<t.MySlack> {
    return this.call('GET', '/v1/me/slack', { options });
  }
  /** Whose account a code links. Uses nothing up. */
  readSlackCode(body: t.SlackCode, options?: Options): APIPromise<t.OfferedSlackLink> {
    return this.call('POST', '/v1/me/slack/code', { body, options, repeatable: true });
  }
  linkSlack(body: t.SlackCode, options?: Options): APIPromise<t.SlackLink> {
    return this.call('POST', '/v1/me/slack', { body, options });
  }
  unlinkSlack(options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/slack', { options });
  }
  /** Goes to another of the person's workspaces. */
  switchWorkspace(body: t.SwitchWorkspaceRequest, options?: Options): APIPromise<t.Me> {
    return this.call('POST', '/v1/me/workspace', { body, options, repeatable: true });
  }
  /** Accepts a membership from before the person proved their e-mail. */
  acceptWorkspace(id: string, options?: Options): APIPromise<t.Me> {
    return this.call('POST', '/v1/me/workspaces/:id/accept', { params: { id }, options, repeatable: true });
  }
  /** Declines a membership from before the person proved their e-mail. */
  leaveWorkspace(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/workspaces/:id', { params: { id }, options });
  }
  listSessions(options?: Options): PagePromise<t.Session> {
    return this.pages('/v1/me/sessions', { options });
  }
  endSession(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/sessions/:id', { params: { id }, options });
  }
  /** Ends all of the person's sessions but the one that asks. */
  endOtherSessions(options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/sessions', { options });
  }
  listPasskeys(options?: Options): PagePromise<t.Passkey> {
    return this.pages('/v1/me/passkeys', { options });
  }
  deletePasskey(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/me/passkeys/:id', { params: { id }, options });
  }
}

/** Signing keys. A key can only list them; everything else needs the session of a person with a passkey. */
export class SigningKeys extends Resource {
  list(options?: Options): PagePromise<t.SigningKey> {
    return this.pages('/v1/signing-keys', { options });
  }
  /** The statement that one of the caller's passkeys must sign to become a signing key. */
  begin(options?: Options): APIPromise<t.StatementToSign> {
    return this.call('POST', '/v1/me/signing-keys/options', { options, repeatable: true });
  }
  enrol(body: t.EnrolSigningKeyRequest, options?: Options): APIPromise<t.SigningKey> {
    return this.call('POST', '/v1/me/signing-keys', { body, options });
  }
  /** The statement that an administrator's signing key must sign to endorse another person's key. */
  beginEndorsement(id: string, options?: Options): APIPromise<t.StatementToSign> {
    return this.call('POST', '/v1/signing-keys/:id/endorse/options', {
      params: { id },
      options,
      repeatable: true,
    });
  }
  endorse(id: string, body: t.EndorseSigningKeyRequest, options?: Options): APIPromise<t.SigningKey> {
    return this.call('POST', '/v1/signing-keys/:id/endorse', { params: { id }, body, options });
  }
  /** The statement that an administrator's signing key must sign for a review policy with signed tiers. */
  beginReviewPolicy(body: t.ReviewPolicyStatementRequest, options?: Options): APIPromise<t.StatementToSign> {
    return this.call('POST', '/v1/review-policy/statement', { body, options, repeatable: true });
  }
  /** Revokes the key; what it signed before stays good. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/signing-keys/:id', { params: { id }, options });
  }
}

/** A file to send, and what it is. */
export interface FileContent {
  /** Anything that `fetch` takes as a body. A stream is sent once; all else may be sent again. */
  data: NonNullable<RequestInit['body']>;
  type: 'text/csv' | 'text/xml' | 'application/xml' | 'application/json' | 'application/x-ndjson';
}

/** Sending and reading a long file takes longer than other requests. */
const FILE_MS = 1_800_000;
/** So does all that is worked out of many lines. */
const REPLAY_MS = 600_000;

/** Files of what payment rails say was paid. */
export class Imports extends Resource {
  /** Recognises a file by its first bytes, at most 64 KiB. Saves nothing. */
  detect(file: FileContent, options?: Options): APIPromise<t.DetectedFile> {
    return this.call('POST', '/v1/imports/detect', { file, options, repeatable: true });
  }
  /** Then send the file with `putContent`. Not sent again after a lost connection. */
  create(body: t.CreateImportRequest, options?: Options): APIPromise<t.Import> {
    return this.call('POST', '/v1/imports', { body, options });
  }
  retrieve(id: string, options?: Options): APIPromise<t.Import> {
    return this.call('GET', '/v1/imports/:id', { params: { id }, options });
  }
  /** Newest first. */
  list(query?: t.ListImportsQuery, options?: Options): PagePromise<t.Import> {
    return this.pages('/v1/imports', { query, options });
  }
  /** Sends the file. After an interruption send it again: lines that are known are not taken twice. */
  putContent(id: string, file: FileContent, options?: Options): APIPromise<t.Import> {
    return this.call('PUT', '/v1/imports/:id/content', { params: { id }, file, options, extra_ms: FILE_MS });
  }
  /** The bad lines, in the order of the file. */
  listProblems(
    id: string,
    query?: t.ListImportProblemsQuery,
    options?: Options,
  ): PagePromise<t.ImportProblem> {
    return this.pages('/v1/imports/:id/problems', { params: { id }, query, options });
  }
  /** Deletes it with its lines. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/imports/:id', { params: { id }, options });
  }
}

/** Payments as payment rails report them. */
export class Lines extends Resource {
  retrieve(id: string, options?: Options): APIPromise<t.Line> {
    return this.call('GET', '/v1/lines/:id', { params: { id }, options });
  }
  /** Those recorded last come first. */
  list(query?: t.ListLinesQuery, options?: Options): PagePromise<t.Line> {
    return this.pages('/v1/lines', { query, options });
  }
  /** Says what a line is: matched with a decision, or not, or left out. The newest resolution holds. */
  resolve(id: string, body: t.LineResolutionRequest, options?: Options): APIPromise<t.LineResolution> {
    return this.call('POST', '/v1/lines/:id/resolutions', { params: { id }, body, options });
  }
  /** Lists people's statements about it, oldest first. */
  listResolutions(id: string, options?: Options): PagePromise<t.LineResolution> {
    return this.pages('/v1/lines/:id/resolutions', { params: { id }, options });
  }
}

/** Reports on lines. Nothing is saved. */
export class History extends Resource {
  /** Decides about lines by a draft of an authority. */
  replay(body: t.ReplayHistoryRequest, options?: Options): APIPromise<t.LineReplay> {
    return this.call('POST', '/v1/history/replay', { body, options, repeatable: true, extra_ms: REPLAY_MS });
  }
  /** An authority made from lines, with the reason for each value. A person applies it. */
  propose(body: t.ProposeHistoryRequest, options?: Options): APIPromise<t.Proposal> {
    return this.call('POST', '/v1/history/proposal', {
      body,
      options,
      repeatable: true,
      extra_ms: REPLAY_MS,
    });
  }
  /** Lines that stand out. */
  listAnomalies(query?: t.ListAnomaliesQuery, options?: Options): PagePromise<t.Anomaly> {
    return this.pages('/v1/history/anomalies', { query, options, extra_ms: REPLAY_MS });
  }
}

/** Card issuers that send their events to the service. */
export class Rails extends Resource {
  /** Not sent again after a lost connection. */
  create(body: t.CreateRailRequest, options?: Options): APIPromise<t.Rail> {
    return this.call('POST', '/v1/rails', { body, options });
  }
  retrieve(id: string, options?: Options): APIPromise<t.Rail> {
    return this.call('GET', '/v1/rails/:id', { params: { id }, options });
  }
  /** Newest first. */
  list(query?: t.ListRailsQuery, options?: Options): PagePromise<t.Rail> {
    return this.pages('/v1/rails', { query, options });
  }
  /** Secrets that are given replace all that the rail has. */
  update(id: string, body: t.UpdateRailRequest, options?: Options): APIPromise<t.Rail> {
    return this.call('PATCH', '/v1/rails/:id', { params: { id }, body, options });
  }
  /** Its lines and decisions stay. */
  delete(id: string, options?: Options): APIPromise<void> {
    return this.call('DELETE', '/v1/rails/:id', { params: { id }, options });
  }
}

/** The cards, accounts and projects that pay. */
export class Instruments extends Resource {
  list(query?: t.ListInstrumentsQuery, options?: Options): PagePromise<t.Instrument> {
    return this.pages('/v1/instruments', { query, options });
  }
  /** Says whose its lines are. */
  assign(instrument: string, body: t.AssignInstrumentRequest, options?: Options): APIPromise<t.Instrument> {
    return this.call('PUT', '/v1/instruments/:instrument', { params: { instrument }, body, options });
  }
}
