import { APIError, type Me } from '@purser/sdk';
import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { auth } from './auth.ts';
import { purser, QUIET } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // `live.ts` announces changes; this limits the age of data without it.
      staleTime: 15_000,
      // The client library already retries where that helps.
      retry: false,
      refetchOnWindowFocus: true,
      throwOnError: false,
    },
    mutations: { retry: false },
  },
});

/** The signed-in person. Null if there is none. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    // A session that ends during use is renewed in a dialog. Without an earlier session the sign-in screen follows.
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
  queryFn: auth.options,
  staleTime: 60_000,
});

export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: async () => purser.workspace.retrieve(),
  staleTime: 60_000,
});

/** A signed-in person in a workspace that they have joined. */
export type Member = Me & { [Field in 'workspace' | 'role' | 'principal_id']: NonNullable<Me[Field]> };

/** True if the person is in a workspace. Otherwise they still have to join one that added them. */
export const isMember = (me: Me): me is Member => me.workspace !== null;

/** The screen that a person starts on: reviewing is all that a reviewer is for. */
export const homeOf = ({ role }: Pick<Me, 'role'>): '/' | '/reviews' =>
  role === 'reviewer' ? '/reviews' : '/';

/** The signed-in person. Throws outside the shell. */
export function useMe(): Member {
  const { data } = useQuery(meQuery);
  if (!data || !isMember(data)) throw new Error('nobody is signed in to a workspace');
  return data;
}

/** True if the person's role has the scope. */
export function useMay(scope: 'admin' | 'review'): boolean {
  return useMe().scopes.includes(scope);
}

/** Reasons why a control is disabled, by missing scope. */
export const WHY_NOT = {
  admin: 'Only an administrator can do this.',
  review: 'Your role cannot review requests.',
} as const;
