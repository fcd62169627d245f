/**
 * Ends this process like a signal when its parent is gone, if npm started it. npm passes a signal to the shell between it
 * and us, and some shells end without passing it on.
 */
export function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent_pid = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent_pid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  timer.unref();
}
