import { startService, startWorkspaceMaker } from './service.ts';

/** Starts the run's service, in which every test has its own workspace. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const service = await startService();
  const maker = await startWorkspaceMaker(service.data_dir);
  // Passed to the workers; it stays within these processes.
  process.env.E2E_BASE_URL = service.base_url;
  process.env.E2E_SETUP_URL = service.setup_url;
  process.env.E2E_DATA_DIR = service.data_dir;
  process.env.E2E_WORKSPACE_MAKER = maker.url;
  return async () => {
    await maker.stop();
    await service.stop();
  };
}
