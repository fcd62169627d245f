import { useEffect } from 'react';
import { announceSignIn } from '../../api/session.ts';
import { SignedOutLayout } from './SignedOutLayout.tsx';

/** Landing page of the identity provider's callback in the sign-in window beside the waiting page. */
export default function SignedIn() {
  useEffect(() => {
    announceSignIn();
    // Some browsers do not let a page that navigated elsewhere close itself: its text then stays.
    window.close();
  }, []);
  return (
    <SignedOutLayout title="Continue in the other window">
      <p>Your work continues there. You can close this window.</p>
      <p>
        No other window? <a href="/console/">Open the console</a>
      </p>
    </SignedOutLayout>
  );
}
