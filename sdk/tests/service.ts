/** The real service and its PostgreSQL, as the server's own tests start them. */
export {
  AUTHORITY,
  makeKey,
  type RunningService,
  startTestService,
} from '../../server/tests/support/running-service.ts';
