import { PurserError } from '@purser/sdk';
import { useSyncExternalStore } from 'react';

/**
 * What the server asked of the person in the middle of something: to sign in again, or to prove who they are. The
 * request that met it waits here, so that nothing that was typed is lost; it goes on when the dialog is done.
 */
export type Demand = 'sign-in' | 'proof';

interface Pending {
  demand: Demand;
  resolve: () => void;
  reject: (error: Error) => void;
}

let pending: Pending[] = [];
const listeners = new Set<() => void>();
const tell = () => {
  for (const each of listeners) each();
};

/** Waits until the person has met a demand. Rejects when they decline. */
export function demand(kind: Demand): Promise<void> {
  return new Promise((resolve, reject) => {
    pending = [...pending, { demand: kind, resolve, reject }];
    tell();
  });
}

/** Whether a dialog asks somebody to sign in again, or to prove who they are. */
export const isDemanded = (): boolean => pending.length > 0;

/** The demand that is to be met now; null when there is none. */
export function useDemand(): Demand | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pending[0]?.demand ?? null,
  );
}

/** Lets every request go on that waits for this demand. A new sign-in is a fresh proof too. */
export function met(kind: Demand): void {
  const going = pending.filter((each) => each.demand === kind || kind === 'sign-in');
  pending = pending.filter((each) => !going.includes(each));
  for (const each of going) each.resolve();
  tell();
}

const CHANNEL = 'purser-sign-in';

/**
 * Tells the other windows of this browser that somebody signed in in this one. By a channel, since the policy of the
 * page cuts the tie between a window and the one that opened it once the identity provider was in between.
 */
export function tellSignIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Calls the listener when somebody signs in in another window. Returns what ends that. */
export function onSignIn(listener: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = listener;
  return () => channel.close();
}

/** Fails every request that waits for this demand, with a sentence that says why. None of them is sent again. */
export function declined(kind: Demand, sentence: string): void {
  const failing = pending.filter((each) => each.demand === kind);
  pending = pending.filter((each) => each.demand !== kind);
  for (const each of failing) each.reject(new PurserError(sentence));
  tell();
}
