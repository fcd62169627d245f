import { routes as inboxRoutes } from '@purser/contract/routes/reviews/inbox';
import { routes as noteRoutes } from '@purser/contract/routes/reviews/notes';
import { routes as sheetRoutes } from '@purser/contract/routes/reviews/sheet';
import { ApiError, invalidField } from '@purser/rules/errors';
import type pg from 'pg';
import { createNote } from '../../../engine/commands/reviews/create-note.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import {
  countPendingReviews,
  type InboxFilters,
  listPendingReviews,
} from '../../../engine/storage/reviewing/inbox.ts';
import { mayKeyReview } from '../../../engine/storage/reviewing/notes.ts';
import { visibleAgent } from '../../decisions/visible-agent.ts';
import type { Cursors } from '../../http/cursors.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import { presentGroups, presentRows } from '../../reviews/inbox.ts';
import { readSheet } from '../../reviews/sheet.ts';

export interface InboxOptions {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  urlOf: (decision_id: string) => string;
  /** People are mailed notices. */
  mails_people: boolean;
}

/** Makes the routes that reviewers work with: notes, the sheet of a decision, and the pending reviews. */
export function makeInboxRoutes(options: InboxOptions): Route[] {
  const { db, urlOf } = options;
  return [
    serve(noteRoutes.createNote)(handleNote(options)),
    serve(sheetRoutes.getSheet, { shares: 'reads' })(async ({ caller, params }) => {
      const sheet = await readSheet({ db, urlOf }, caller, params.id);
      if (sheet === undefined) throw new ApiError('not_found', 'No such decision.');
      return { status: 200, body: sheet };
    }),
    serve(inboxRoutes.getInbox, { shares: 'lists' })(handleInbox(options)),
  ];
}

function handleNote({ db, lane, mails_people }: InboxOptions): Handler<typeof noteRoutes.createNote> {
  return async (call) => {
    const { text, assign_to = null } = call.body;
    const { workspace_id } = call.caller;
    const is_of_key = assign_to !== null && (await mayKeyReview(db, workspace_id, assign_to));
    const input = { decision_id: call.params.id, text, assign_to, is_of_key, mails_people };
    return { status: 201, body: await lane.submit(workspace_id, createNote, input, originOf(call)) };
  };
}

const NOTHING = { data: [], total: 0, groups: [], next_cursor: null };

function handleInbox(options: InboxOptions): Handler<typeof inboxRoutes.getInbox> {
  const { lists_db, cursors } = options;
  return async ({ caller, query }) => {
    const { workspace_id, principal_id } = caller;
    const { limit = 50, cursor, group = null, sort = 'expires', agent, assigned, mine, ...rest } = query;
    if (sort === 'amount' && rest.currency === undefined)
      throw invalidField('currency', 'must be given to sort by amount');
    const list = [
      'getInbox',
      workspace_id,
      principal_id,
      sort,
      agent ?? null,
      assigned ?? null,
      mine ?? null,
      rest,
    ];
    const place = cursors.open(list, cursor) as string | null;
    const agent_id =
      agent === undefined ? undefined : (await visibleAgent(options.db, caller, agent)).agent_id;
    const filters: InboxFilters = {
      ...rest,
      agent_id,
      assigned_to: assigned === 'none' ? null : assigned,
      not_assigned_to: mine === false ? (principal_id ?? undefined) : undefined,
    };
    if (mine === true) {
      if (principal_id === null || (assigned !== undefined && assigned !== principal_id))
        return { status: 200, body: NOTHING };
      filters.assigned_to = principal_id;
    }
    const after = place === null ? null : (JSON.parse(place) as (string | number)[]);
    const [{ rows, next }, { total, groups }] = await Promise.all([
      listPendingReviews(lists_db, workspace_id, filters, { sort, after, limit }),
      countPendingReviews(lists_db, workspace_id, filters, group),
    ]);
    const body = {
      data: await presentRows(lists_db, caller, rows),
      total,
      groups: await presentGroups(lists_db, workspace_id, groups),
      next_cursor: next === null ? null : cursors.seal(list, JSON.stringify(next)),
    };
    return { status: 200, body };
  };
}
