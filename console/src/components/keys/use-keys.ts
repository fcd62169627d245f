import { useLayoutEffect, useRef } from 'react';

const OFF = 'purser.keys';

/** True if single-key shortcuts are on. People can turn them off in their account. */
export const areKeysOn = (): boolean => localStorage.getItem(OFF) !== 'off';
export const setKeysOn = (is_on: boolean): void => {
  if (is_on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'off');
};

/** Controls that take letters as input. A select with `data-keys` leaves them to the screen. */
const TYPED_INTO =
  'textarea, select:not([data-keys]), input:not([type="checkbox"], [type="radio"], [type="button"])';

/** True if a key pressed in `target` is input for a field. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_INTO));

/**
 * The name of a key in `useKeys`: "a", "Shift+X", "?", "Ctrl+Enter" (Command counts as Ctrl). Letters depend on the Shift
 * key and not on their case, so that Caps Lock has no effect.
 */
export function nameOfKey(event: KeyboardEvent): string {
  const ctrl = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  if (!/^[a-z]$/i.test(event.key)) return `${ctrl}${event.key}`;
  return `${ctrl}${event.shiftKey ? `Shift+${event.key.toUpperCase()}` : event.key.toLowerCase()}`;
}

/**
 * Binds keys to handlers. Single keys act only while no field has the focus and no dialog is open; keys with Ctrl also act
 * in fields. A handler that returns `false` leaves the key to the browser.
 */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => unknown>, is_on = true): void {
  const current = useRef(keys);
  current.current = keys;
  // A layout effect, so that a key works as soon as its target is visible.
  useLayoutEffect(() => {
    if (!is_on) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      const name = nameOfKey(event);
      const act = current.current[name];
      if (act === undefined) return;
      const is_single = !name.startsWith('Ctrl+') && name !== 'Escape';
      if (is_single && (isTyping(event.target) || !areKeysOn())) return;
      const dialog = document.querySelector('dialog[open]');
      if (dialog !== null) return;
      if (act(event) !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [is_on]);
}
