/**
 * One file's separate server, in this process, with its administration. Commands may name organizations, and on a
 * shared server the names would exist twice.
 */
import { type Administration, openAdministration } from '../platform/setup.ts'
import { ownServer, type Settings, type TestServer } from '../server.ts'

/** Both end with the test. */
export async function startAdministered(
  t: { teardown(run: () => Promise<void>): void },
  settings: Settings = {},
): Promise<{ parley: TestServer; admin: Administration }> {
  const parley = await ownServer(t, settings)
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  return { parley, admin }
}
