import { useLayoutEffect, useRef } from 'react';

const OFF = 'purser.keys';

/** Whether single keys act; people can switch them off in their account. */
export const areKeysOn = (): boolean => localStorage.getItem(OFF) !== 'off';
export const setKeysOn = (is_on: boolean): void => {
  if (is_on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'off');
};

/** Where letters are text, or choose among options. A select says by `data-keys` that it leaves them to the screen. */
const TYPED_INTO =
  'textarea, select:not([data-keys]), input:not([type="checkbox"], [type="radio"], [type="button"])';

/** Whether a key pressed there is text for a field. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_INTO));

/**
 * A key as it is named in `useKeys`: "a", "Shift+X", "?", "Ctrl+Enter" (Command counts as Ctrl). Letters are told by the
 * Shift key and not by their case, so that Caps Lock changes nothing.
 */
export function nameOfKey(event: KeyboardEvent): string {
  const ctrl = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  if (!/^[a-z]$/i.test(event.key)) return `${ctrl}${event.key}`;
  return `${ctrl}${event.shiftKey ? `Shift+${event.key.toUpperCase()}` : event.key.toLowerCase()}`;
}

/**
 * Calls what belongs to a key. Single keys act only while nobody types and no dialog is open; those with Ctrl act in
 * fields too. A handler that gives `false` leaves the key to the browser.
 */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => unknown>, is_on = true): void {
  const current = useRef(keys);
  current.current = keys;
  // At once, so that a key is heard as soon as what it acts on is to be seen.
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
