import { useEffect } from 'react';

/** Keeps a text in session storage while there is one, and warns before the page is left. */
export function useStored(key: string, text: string | null): void {
  useEffect(() => {
    if (text !== null) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  }, [key, text]);
  // The stored draft is lost when the tab closes, and the page cannot distinguish closing from reloading.
  const is_kept = text !== null;
  useEffect(() => {
    if (!is_kept) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [is_kept]);
}
