import { APIError, type Me } from '@purser/sdk';
import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { purser, QUIET } from './client.ts';
import { door } from './door.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told by `live.ts`; this bounds how old a screen can be without it.
      staleTime: 15_000,
      // The client library has tried again already where that helps.
      retry: false,
      refetchOnWindowFocus: true,
      throwOnError: false,
    },
    mutations: { retry: false },
  },
});

/** Who is signed in; null when nobody is. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    // Somebody whose session ends while they are here is asked in a dialog; whoever was not here is sent to the door.
    const was_here = queryClient.getQueryData<Me | null>(['me']) != null;
    try {
      return await purser.me.retrieve(was_here ? {} : QUIET);
    } catch (error) {
      if (error instanceof APIError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: door.options,
  staleTime: 60_000,
});

export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: async () => purser.workspace.retrieve(),
  staleTime: 60_000,
});

/** Somebody who is signed in to a workspace that they have joined. */
export type Member = Me & { [Field in 'workspace' | 'role' | 'principal_id']: NonNullable<Me[Field]> };

/** Returns whether somebody is in a workspace; otherwise they have yet to join one that they were added to. */
export const isMember = (me: Me): me is Member => me.workspace !== null;

/** Who is signed in. Only for what the shell renders once somebody is. */
export function useMe(): Member {
  const { data } = useQuery(meQuery);
  if (!data || !isMember(data)) throw new Error('nobody is signed in to a workspace');
  return data;
}

/** Whether the person's role has a scope. */
export function useMay(scope: 'admin' | 'review'): boolean {
  return useMe().scopes.includes(scope);
}

/** Why a control is disabled for somebody without a scope. */
export const WHY_NOT = {
  admin: 'Only an administrator can do this.',
  review: 'Your role lets you look, not review.',
} as const;
