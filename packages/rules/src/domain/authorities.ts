import { createHash } from 'node:crypto';
import { AUTHORITY_ROWS, type Authority } from '@purser/contract/authority';
import { canonicalJson } from '../values/canonical-json.ts';

/** One version of an agent's authority, as it was posted. */
export interface AuthorityRow {
  agent_id: string;
  version: number;
  hash: string;
  /** RFC 8785 text. */
  authority: string;
  created_at: string;
  key_id: string | null;
  principal_id: string | null;
  /** The reason for the version, in its author’s words. */
  note: string | null;
  /** The limits over time that joined with it, as the JSON of `JoinedLimits`; null where none counts earlier decisions. */
  joined: string | null;
}

/**
 * Limits over time that joined with a version of an authority. The agent's decisions under earlier versions count in them from
 * then on, as if they had counted there from their making.
 */
export interface JoinedLimits {
  counter_ids: string[];
  /** Decisions with smaller ids are not counted. */
  from: string;
  /** An id of the moment, without its prefix: records of decisions with greater ones came after. */
  place: string;
}

/** A version of an authority with which limits joined. */
export interface JoiningAuthority {
  version: number;
  /** Shared; it must not be changed. */
  authority: Authority;
  joined: JoinedLimits;
}

/** `sha256:` + hex SHA-256 of the RFC 8785 form of the authority. */
export function authorityHash(authority: Authority): string {
  return `sha256:${createHash('sha256').update(canonicalJson(authority)).digest('hex')}`;
}

const ROWS: Readonly<Record<string, { is_assessed: boolean } | undefined>> = AUTHORITY_ROWS;

/**
 * Everything in an authority that an assessment depends on, as RFC 8785 text: authorities with the same text are
 * assessed alike. A field that has no row counts.
 */
export function assessmentInputs(authority: Authority): string {
  const inputs = Object.entries(authority).filter(([name]) => ROWS[name]?.is_assessed !== false);
  return canonicalJson(Object.fromEntries(inputs));
}
