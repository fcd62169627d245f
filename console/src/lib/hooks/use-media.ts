import { useSyncExternalStore } from 'react';

/** True while a media query matches. */
export function useMedia(text: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(text);
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => matchMedia(text).matches,
  );
}
