import { useEffect } from 'react';
import { tellSignIn } from '../../api/session.ts';
import { Entrance } from './Entrance.tsx';

/** Where the identity provider leads back to in a window beside the page that asked to sign in again. */
export default function SignedIn() {
  useEffect(() => {
    tellSignIn();
    // Not every browser lets a page close itself after it was elsewhere: then its words stand.
    window.close();
  }, []);
  return (
    <Entrance title="Go on in the other window">
      <p>What you were doing waits there and goes on by itself. You can close this window.</p>
      <p>
        Is there no other window? <a href="/console/">Open the console</a>
      </p>
    </Entrance>
  );
}
