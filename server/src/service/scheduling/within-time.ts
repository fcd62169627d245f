/** Resolves as `work` does, or rejects with the error of `late` after `timeout_ms`. The work goes on. */
export async function withinTime<T>(work: Promise<T>, timeout_ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const too_late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeout_ms);
  });
  try {
    return await Promise.race([work, too_late]);
  } finally {
    clearTimeout(timer);
  }
}
