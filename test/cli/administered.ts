/**
 * Each test file has a separate server in this process, with functions to create organizations and keys. Commands may
 * find organizations by name, and on a shared server two files might use the same name.
 */
import { type Administration, openAdministration } from '../platform/setup.ts'
import { ownServer, type Settings, type TestServer } from '../server.ts'

/** Starts the server and opens its administration. Both end with the test. */
export async function startAdministered(
  t: { teardown(run: () => Promise<void>): void },
  settings: Settings = {},
): Promise<{ parley: TestServer; admin: Administration }> {
  const parley = await ownServer(t, settings)
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  return { parley, admin }
}
