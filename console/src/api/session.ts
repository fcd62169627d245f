import { PurserError } from '@purser/sdk';
import { useSyncExternalStore } from 'react';

/**
 * A demand of the server on the person: to sign in again, or to prove their identity. The refused request waits here and
 * continues after the dialog, so that no input is lost.
 */
export type Demand = 'sign-in' | 'proof';

interface Pending {
  demand: Demand;
  resolve: () => void;
  reject: (error: Error) => void;
}

let pending: Pending[] = [];
const listeners = new Set<() => void>();
const notify = () => {
  for (const each of listeners) each();
};

/** Waits until the person meets a demand. Rejects if they decline. */
export function awaitDemand(kind: Demand): Promise<void> {
  return new Promise((resolve, reject) => {
    pending = [...pending, { demand: kind, resolve, reject }];
    notify();
  });
}

/** True while the dialog of a demand is open. */
export const hasDemand = (): boolean => pending.length > 0;

/** The demand to meet now. Null if there is none. */
export function useDemand(): Demand | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pending[0]?.demand ?? null,
  );
}

/** Continues every request that waits for this demand. A new sign-in also counts as a proof. */
export function resolveDemand(kind: Demand): void {
  const going = pending.filter((each) => each.demand === kind || kind === 'sign-in');
  pending = pending.filter((each) => !going.includes(each));
  for (const each of going) each.resolve();
  notify();
}

const CHANNEL = 'purser-sign-in';

/**
 * Announces a sign-in to the other windows of this browser. It uses a channel because the page's opener policy cuts the
 * link between a window and its opener once the identity provider was in between.
 */
export function announceSignIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Calls the listener when somebody signs in in another window. Returns the function that ends this. */
export function onSignIn(listener: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = listener;
  return () => channel.close();
}

/** Fails every request that waits for this demand with `sentence`. None of them is sent again. */
export function rejectDemand(kind: Demand, sentence: string): void {
  const failing = pending.filter((each) => each.demand === kind);
  pending = pending.filter((each) => each.demand !== kind);
  for (const each of failing) each.reject(new PurserError(sentence));
  notify();
}
