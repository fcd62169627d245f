import { FIXED_FEEDS, type RailKind } from '@purser/contract/values/history';
import { hasAskedFirst, type PaidByCard } from '@purser/rules/cards/asked-first';
import type { AuthorizationFact } from '@purser/rules/cards/authorizations';
import { dueReport } from '@purser/rules/cards/settle-authorization';
import type { Origin } from '@purser/rules/domain/audit';
import { whyInactive } from '@purser/rules/domain/workspace';
import { isSameContent, type LineRow, type NewLine, pageDataHash } from '@purser/rules/history/lines';
import type { CoverageSettings } from '@purser/rules/matching/spends';
import { type Command, type CommandResult, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { Needs } from '../../needs/needs.ts';
import type { CreateDecisionInput, CreatedDecision, StaleDecision } from '../create-decision.ts';
import { createOutcome } from '../create-outcome.ts';
import { NO_SUCH_RAIL } from './update-rail.ts';

/** An authorization that is watched, as it was looked up before the lane was asked. */
export interface Watch {
  authorization: string;
  /** A state that the event tells; null: none. */
  state: Exclude<AuthorizationFact, 'DECISION'> | null;
  /** The decision that watches it already; null: there was none. */
  decision_id: string | null;
  /** The agent of the card, where it is in SHADOW; null: it is not watched for anybody. */
  shadow: {
    agent_id: string;
    instrument: string;
    /** The newest assignment of the card. */
    assignment_version: number;
  } | null;
  /** The decision to be made, where the event is of a spend. */
  make: {
    paid: PaidByCard;
    create: CreateDecisionInput;
    /** The request of the agent that it is of; null: it did not ask. */
    asked_id: string | null;
    /** How the workspace compares payments with requests. */
    settings: CoverageSettings;
    /** The end of the chain and the newest decision when requests were looked up. */
    after_seq: number;
    newest_decision_id: string;
  } | null;
}

export interface RecordRailEventInput {
  rail_id: string;
  kind: RailKind;
  /** At most a page. */
  lines: readonly NewLine[];
  /** Null: nothing but its lines is recorded. */
  watch: Watch | null;
}

export interface RecordedRailEvent {
  /** How many lines are new to the workspace. */
  added: number;
  /** How many say something else than the known line of the same id, which stays. */
  changed: number;
  /** The decision that was made. */
  decided: CreatedDecision['decided'];
}

/** The changes since an event was prepared; null: look everything up again. */
export interface StaleWatch {
  decision: StaleDecision | null;
}

/** The events after which requests are looked up again, since no more are read in a batch. */
const MAX_EVENTS_SINCE = 4_000;

/** Adds the lines of an event that no feed has yet, sealed by one event of the chain. */
function addLines(set: WorkingSet, { rail_id, lines }: RecordRailEventInput) {
  const added: LineRow[] = [];
  let changed = 0;
  const seq = set.head.seq + 1;
  for (const line of lines) {
    const known = added.find((each) => each.identity === line.identity) ?? set.imported.line(line);
    if (known === undefined) {
      const line_id = set.newId('line');
      added.push({ line_id, seq, import_id: null, rail_id, ...line, recorded_at: set.now });
    } else if (!isSameContent(known, line)) changed += 1;
  }
  if (added.length > 0) {
    set.imported.addLines(added);
    set.append('lines.recorded', 'rail', rail_id, pageDataHash(added));
  }
  return { added: added.length, changed };
}

/** True if the card is still the agent's, who is in SHADOW and may spend. */
function isWatching(set: WorkingSet, { shadow }: Watch): boolean {
  const agent = shadow === null ? undefined : set.agent(shadow.agent_id);
  return agent !== undefined && agent.mode === 'SHADOW' && whyInactive(agent, set.stop) === null;
}

/** True if the agent has asked for the payment since its requests were looked up. */
function hasAskedSince(set: WorkingSet, { make, shadow }: Watch): boolean {
  if (make === null || shadow === null) return false;
  if (set.eventsSince(make.after_seq) > MAX_EVENTS_SINCE) return true;
  return set.records
    .changedOf(shadow.agent_id)
    .decisions.some(
      ({ decision }) =>
        decision.decision_id > make.newest_decision_id &&
        !set.rails.isTaken(decision.decision_id) &&
        hasAskedFirst(decision, make.paid, make.settings),
    );
}

type Watched = { decision_id: string; decided: CreatedDecision['decided'] } | null;

type CreateDecision = Command<CreateDecisionInput, CreatedDecision, StaleDecision>;

const stale = (decision: StaleDecision | null = null) => ({ kind: 'stale', current: { decision } }) as const;

/** Has a new fact of an authorization sealed. */
function addFact(
  set: WorkingSet,
  { rail_id, kind }: RecordRailEventInput,
  authorization_id: string,
  of: { fact: AuthorizationFact; decision_id: string | null; is_observed: boolean | null },
): void {
  if (set.rails.fact(kind, authorization_id, of.fact) !== undefined) return;
  const rail_authorization_id = set.newId('rail_authorization');
  set.rails.addFact({
    rail_authorization_id,
    rail_id,
    kind,
    authorization_id,
    ...of,
    recorded_at: set.now,
  });
}

/** The decision of an authorization, made now where it has none; null: nobody watches it. */
function watchedDecision(
  createDecision: CreateDecision,
  set: WorkingSet,
  input: RecordRailEventInput,
  watch: Watch,
  origin: Origin,
): Exclude<CommandResult<Watched, StaleWatch>, { kind: 'refused' }> {
  const known = set.rails.fact(input.kind, watch.authorization, 'DECISION')?.decision_id ?? null;
  if (known !== watch.decision_id) return stale();
  if (known !== null) return done({ decision_id: known, decided: null });
  if (!isWatching(set, watch) || watch.make === null) return done(null);
  const { instrument, assignment_version } = watch.shadow as NonNullable<Watch['shadow']>;
  if ((set.imported.assignment(instrument)?.version ?? 0) !== assignment_version) return stale();
  const { asked_id, create } = watch.make;
  if (hasAskedSince(set, watch)) return stale();
  if (asked_id !== null) {
    if (set.rails.isTaken(asked_id) || set.records.decision(asked_id) === undefined) return stale();
    addFact(set, input, watch.authorization, {
      fact: 'DECISION',
      decision_id: asked_id,
      is_observed: false,
    });
    return done({ decision_id: asked_id, decided: null });
  }
  const made = createDecision.apply(set, create, origin);
  if (made.kind === 'stale') return stale(made.current);
  // The agent may not spend: then nobody watches.
  if (made.kind === 'refused') return done(null);
  const { decided, document } = made.value;
  const { decision_id } = JSON.parse(document) as { decision_id: string };
  addFact(set, input, watch.authorization, { fact: 'DECISION', decision_id, is_observed: true });
  return done({ decision_id, decided });
}

/** Records the reports that are due for the decision of an authorization. */
function settle(
  set: WorkingSet,
  input: RecordRailEventInput,
  authorization: string,
  decision_id: string,
  origin: Origin,
) {
  const { kind } = input;
  const feed = FIXED_FEEDS[kind];
  const lines = new Map<string, LineRow | NewLine>();
  const { lines: added, deleted_imports } = set.imported.changes;
  const known = [...set.rails.linesOf(feed, authorization), ...added].filter(
    (line) =>
      line.feed === feed &&
      line.authorization_id === authorization &&
      !deleted_imports.has(line.import_id ?? ''),
  );
  for (const line of [...known, ...input.lines.map((line) => set.imported.line(line) ?? line)])
    lines.set(line.identity, line);
  const currency = set.records.decision(decision_id)?.decision.currency as string;
  const watched = {
    authorization,
    currency,
    facts: set.rails.facts(kind, authorization),
    lines: [...lines.values()],
  };
  for (;;) {
    const report = dueReport(watched, set.records.outcomesOf(decision_id));
    if (report === null) return;
    const { occurred_at } = report;
    const result = createOutcome.apply(
      set,
      {
        ...report,
        decision_id,
        only_agent: null,
        currency,
        source: 'PAYMENT_RAIL',
        occurred_at: occurred_at !== null && occurred_at < set.now ? occurred_at : null,
        may_follow_release: true,
      },
      origin,
    );
    // The rail has reported otherwise in another way: its first word stays.
    if (result.kind !== 'done' || result.value.repeated) return;
  }
}

/** Makes the command that records a card event. */
export function makeRecordRailEvent(
  createDecision: CreateDecision,
): Command<RecordRailEventInput, RecordedRailEvent, StaleWatch> {
  return {
    // The operationId of the route.
    name: 'takeRailEvent',
    needs: (input) => needsOf(input, createDecision),
    apply(set, input, origin) {
      if (set.rails.rail(input.rail_id) === undefined) return refuse('not_found', NO_SUCH_RAIL);
      const { watch } = input;
      if (watch === null) return done({ ...addLines(set, input), decided: null });
      const watched = watchedDecision(createDecision, set, input, watch, origin);
      if (watched.kind === 'stale') return watched;
      const recorded = addLines(set, input);
      const { authorization, state } = watch;
      const keeps_state = watched.value !== null || isWatching(set, watch);
      if (state !== null && keeps_state)
        addFact(set, input, authorization, { fact: state, decision_id: null, is_observed: null });
      if (watched.value !== null) settle(set, input, authorization, watched.value.decision_id, origin);
      return done({ ...recorded, decided: watched.value?.decided ?? null });
    },
  };
}

/** The rows that an event needs. */
function needsOf(
  { rail_id, kind, lines, watch }: RecordRailEventInput,
  createDecision: CreateDecision,
): Needs {
  const own: Needs = {
    rails: [rail_id],
    lines: lines.map(({ feed, identity }) => ({ feed, identity })),
  };
  if (watch === null) return own;
  const { authorization, decision_id, shadow, make } = watch;
  const watched = decision_id ?? make?.asked_id ?? null;
  const of_decision: Needs =
    watched === null
      ? {}
      : { decisions: [watched], outcomes_of: [watched], authorizations_of: [watched], webhooks: true };
  const of_card: Needs =
    shadow === null ? {} : { agents: [shadow.agent_id], instruments: [shadow.instrument] };
  return {
    ...(make === null ? {} : createDecision.needs(make.create)),
    ...(make === null || shadow === null
      ? {}
      : { changed_decisions: { agent_id: shadow.agent_id, after_seq: make.after_seq } }),
    ...own,
    ...of_card,
    ...of_decision,
    rail_authorizations: [{ kind, authorization_id: authorization }],
    authorization_lines: [{ feed: FIXED_FEEDS[kind], authorization_id: authorization }],
  };
}
