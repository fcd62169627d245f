import { describe, expect, test } from 'vitest';
import { transportWarnings } from './transport-warnings.ts';

const NONE = { database_url: null, redis_url: null, purpose_model_url: null };
const warned = (given: Partial<typeof NONE | Record<keyof typeof NONE, string>>) =>
  transportWarnings({ ...NONE, ...given }).map((line) => line.split(' ')[0]);

describe('a connection to another machine that is not encrypted is warned of', () => {
  test.each([
    'postgres://u:p@db.internal/purser',
    'postgresql://u:p@10.0.0.4:5432/purser?sslmode=disable',
    'postgresql://u:p@[2001:db8::1]/purser',
    'postgresql://u:p@localhost/purser?host=db.internal',
    'postgresql://u:p@localhost.example/purser',
  ])('%s', (database_url) => expect(warned({ database_url })).toEqual(['DATABASE_URL']));
  test.each(['redis://redis:6379', 'redis://:p@10.0.0.4'])('%s', (redis_url) =>
    expect(warned({ redis_url })).toEqual(['REDIS_URL']),
  );
  test('http://models.internal/v1', () =>
    expect(warned({ purpose_model_url: 'http://models.internal/v1' })).toEqual(['PURPOSE_MODEL_URL']));
  test('and the warning never holds a password', () => {
    const lines = transportWarnings({
      database_url: 'postgres://u:hunter2@db/purser',
      redis_url: 'redis://:hunter2@redis',
      purpose_model_url: null,
    });
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('hunter2');
  });
});

describe('an encrypted one, and one that stays on this machine, are not', () => {
  test.each([
    'postgres://u:p@db.internal/purser?sslmode=require',
    'postgres://u:p@db.internal/purser?sslmode=verify-full',
    'postgres://u:p@localhost/purser',
    'postgres://u:p@127.0.0.53/purser',
    'postgres://u:p@[::1]/purser',
    'postgresql://u@localhost/purser?host=%2Fvar%2Frun%2Fpostgresql',
  ])('%s', (database_url) => expect(warned({ database_url })).toEqual([]));
  test.each(['rediss://redis:6379', 'redis://localhost', 'redis://127.0.0.1:6379', 'redis://[::1]'])(
    '%s',
    (redis_url) => expect(warned({ redis_url })).toEqual([]),
  );
  test('and neither is what is not set', () => expect(warned({})).toEqual([]));
});
