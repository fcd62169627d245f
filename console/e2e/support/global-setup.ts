import { startService } from './service.ts';

/** Starts the one service of the run. Every test has a workspace of its own in it. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const service = await startService();
  // What the workers are told; it stays within these processes.
  process.env.E2E_BASE_URL = service.base_url;
  process.env.E2E_SETUP_URL = service.setup_url;
  process.env.E2E_DATA_DIR = service.data_dir;
  return service.stop;
}
