import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError } from '../../api/client.ts';
import { meQuery, queryClient } from '../../api/queries.ts';
import { TextField } from '../../components/Field.tsx';
import { Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { checkAccount, NewAccountFields } from './NewAccount.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

/** The code follows the `#`, so that it reaches no log and no other server. */
const codeOfAddress = () => decodeURIComponent(location.hash.slice(1));

export default function SetUp() {
  const navigate = useNavigate();
  const [from_address] = useState(codeOfAddress);
  const [refusal, setRefusal] = useState<'code' | 'done' | null>(null);
  const form = useForm(
    { code: from_address, email: '', name: '', password: '' },
    async (values) => {
      setRefusal(null);
      try {
        const me = await auth.setUp({ ...values, code: values.code.trim() });
        queryClient.clear();
        queryClient.setQueryData(meQuery.queryKey, me);
        await navigate({ to: '/', replace: true });
      } catch (error) {
        const code = codeOfError(error);
        if (code === 'unauthenticated') setRefusal('code');
        else if (code === 'already_set_up') setRefusal('done');
        else throw error;
      }
    },
    {
      check: (values) => ({
        ...checkAccount(values, true),
        ...(values.code.trim() === '' ? { code: 'must be the code that the service printed' } : {}),
      }),
    },
  );

  if (refusal === 'done') {
    return (
      <SignedOutLayout title="Set up Purser">
        <Notice tone="bad" title="Purser is already set up.">
          This service has an administrator. <a href="/console/sign-in">Sign in</a>, or ask for an invitation.
        </Notice>
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout title="Set up Purser" lead="You’ll be the first administrator. Invite your team later.">
      {refusal === 'code' && (
        <Notice tone="bad" title="This code is wrong or has expired.">
          A code works once, for one hour. Print a new one and open its link:
          <CodeBlock label="the command" code="npm run -s purser -- user setup-link" />
        </Notice>
      )}
      <NewAccountFields form={form as never} with_email action="Create administrator">
        {(from_address === '' || refusal === 'code') && (
          <TextField
            label="Code"
            autoComplete="one-time-code"
            required
            hint="Printed in the terminal where the service was started."
            {...form.field('code')}
          />
        )}
      </NewAccountFields>
    </SignedOutLayout>
  );
}
