// Before anything is painted: light or dark as this browser was told, or else as the system is.
try {
  const theme = localStorage.getItem('purser.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system decides.
}
