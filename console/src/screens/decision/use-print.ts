import { useEffect } from 'react';

/** Opens the page of a decision that the service makes for paper, one A4, and prints it. */
function printPage(decision_id: string): void {
  const paper = window.open(`/v1/decisions/${decision_id}/page`, '_blank');
  // The page itself runs no script.
  paper?.addEventListener('load', () => paper.print());
}

/** Opens what is folded while the browser prints the screen: paper cannot be unfolded. */
function useUnfoldedOnPaper(): void {
  useEffect(() => {
    let opened: HTMLDetailsElement[] = [];
    const unfold = () => {
      opened = [
        ...document.querySelectorAll<HTMLDetailsElement>('main details:not([open], [data-screen-only])'),
      ];
      for (const each of opened) each.open = true;
    };
    const fold = () => {
      for (const each of opened) each.open = false;
      opened = [];
    };
    window.addEventListener('beforeprint', unfold);
    window.addEventListener('afterprint', fold);
    return () => {
      window.removeEventListener('beforeprint', unfold);
      window.removeEventListener('afterprint', fold);
    };
  }, []);
}

/**
 * Prints a decision, also by Ctrl+P and Cmd+P. The browser's own menu prints the screen, without its controls and with everything
 * unfolded: a page cannot open another one there.
 */
export function usePrint(decision_id: string): () => void {
  useUnfoldedOnPaper();
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
