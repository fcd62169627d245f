import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import { expect } from 'vitest';
import { engineOf } from '../../src/engine/citus/engine.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { NO_CHECKPOINT_FILES, SECRET_KEY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, makeAgent } = serviceTest({ looks_like_citus: true });

test('on Citus as many verifications as there are connections do not wait for each other', async () => {
  await ask(await makeAgent(), 10);
  const pool = makePool(s.database.connection, {
    max: 2,
    pipeline: true,
    lenient_types: true,
    onBroken() {},
  });
  const options = {
    since: 0,
    keys: [deriveSecrets(SECRET_KEY).checkpointKey],
    checkpoint_dir: NO_CHECKPOINT_FILES,
    names,
  };
  try {
    const found = await Promise.all(
      Array.from({ length: 4 }, () => verifyLedger(pool, s.workspace_id, options)),
    );
    expect(found.map(({ valid }) => valid)).toEqual([true, true, true, true]);
    expect([engineOf(pool), pool.totalCount - pool.idleCount]).toEqual(['citus', 0]);
  } finally {
    await pool.end();
  }
});
