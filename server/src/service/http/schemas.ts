export * from '@purser/contract/error-body';
export * from '@purser/contract/schema';
