/**
 * A server of one file's own, in its process, with its administration. Commands may name organizations, so that a server
 * which other files share would have names twice.
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
