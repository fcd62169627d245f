import { useEffect } from 'react';

/** Opens the page of a decision that the service makes for paper, one A4, and prints it. */
function printPage(decision_id: string): void {
  const paper = window.open(`/v1/decisions/${decision_id}/page`, '_blank');
  // The page itself runs no script.
  paper?.addEventListener('load', () => paper.print());
}

/** Prints a decision, also by Ctrl+P and Cmd+P, which would otherwise print the whole screen. */
export function usePrint(decision_id: string): () => void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (event.key.toLowerCase() !== 'p') return;
      event.preventDefault();
      printPage(decision_id);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [decision_id]);
  return () => printPage(decision_id);
}
