// Applies this browser's stored theme before the first paint. Otherwise the system's theme applies.
try {
  const theme = localStorage.getItem('purser.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme applies.
}
