import { useEffect, useRef } from 'react';

const OFF = 'purser.keys';

/** Whether single keys act; people can switch them off in their account. */
export const areKeysOn = (): boolean => localStorage.getItem(OFF) !== 'off';
export const setKeysOn = (is_on: boolean): void => {
  if (is_on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'off');
};

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** A key as it is named in `useKeys`: "a", "Shift+X", "?", "Ctrl+Enter" (Command counts as Ctrl). */
function nameOf(event: KeyboardEvent): string {
  const is_capital = event.shiftKey && /^[A-Z]$/.test(event.key);
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${is_capital ? 'Shift+' : ''}${event.key}`;
}

/**
 * Calls what belongs to a key. Single keys act only while nobody types and no dialog is open; those with Ctrl act in
 * fields too. A handler that gives `false` leaves the key to the browser.
 */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => unknown>, is_on = true): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (!is_on) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      const name = nameOf(event);
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
