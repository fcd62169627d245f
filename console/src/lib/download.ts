import { purser } from '../api/client.ts';

/**
 * Saves a route's attachment. The browser streams it past the page, which would not see a refusal, so an ended session is
 * renewed first.
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

/** Saves a text. */
export function downloadText(name: string, text: string, type: string): void {
  downloadFile(name, new Blob([text], { type }));
}

/** Saves a file, which may be larger than one string can hold. */
export function downloadFile(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
