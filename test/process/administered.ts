/** Starts the built program, and opens its administration. */
import { type Administration, openAdministration } from '../platform/setup.ts'
import { type Running, startParley } from './parley.ts'

/** The program and its administration end with the test. */
export async function startAdministeredProgram(
  t: { teardown(run: () => Promise<void>): void },
  env: Record<string, string> = {},
): Promise<{ parley: Running; admin: Administration }> {
  const parley = await startParley(env)
  t.teardown(() => parley.remove())
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  return { parley, admin }
}
