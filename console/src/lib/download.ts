import { purser } from '../api/client.ts';

/**
 * Has the browser save what a route answers as an attachment. It is streamed past the page, which cannot see a refusal: a
 * session that ended is asked for before.
 */
export async function downloadStreamed(address: string): Promise<void> {
  await purser.me.retrieve();
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}

/** Has the browser save a text that the page made. */
export function downloadText(name: string, text: string, type: string): void {
  downloadFile(name, new Blob([text], { type }));
}

/** Has the browser save what the page has of a file, which may be more than fits into one text. */
export function downloadFile(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
