import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { meQuery, queryClient } from './api/queries.ts';
import { router } from './router.tsx';
import './styles/tokens.css';
import './styles/base.css';

// Fetched before anything renders: every screen needs it, and the request takes most of the first load's time.
if (!/\/(sign-in|setup|invitation|reset)$/.test(location.pathname)) void queryClient.prefetchQuery(meQuery);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
