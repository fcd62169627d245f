import { useNotifyOfRequests } from '../../api/browser-notifications.ts';

/** Notifies the person of new requests, if they turned that on in this browser. Shows nothing itself. */
export default function NotifyOfRequests() {
  useNotifyOfRequests();
  return null;
}
