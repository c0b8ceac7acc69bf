/** Puts a proxy in front of our server, with one fault at a time. `parley conform` must find it by the right checks. */
import t from 'tap'
import { conform } from '../../conform/conform.ts'
import { startAdministered } from '../cli/administered.ts'
import type { SeededFault } from './faults.ts'
import { startProxy } from './proxy.ts'

export async function testFaults(faults: readonly SeededFault[]): Promise<void> {
  const { parley, admin } = await startAdministered(t)
  const proxy = await startProxy(parley.url)
  t.teardown(() => proxy.close())
  const { key } = await admin.organization('behind a proxy', { scopes: ['router', 'platform', 'realtime', 'rmsg'] })
  const failedChecks = async (only: readonly string[]) => {
    const keys = { key, testKey: null, keyOfLesserScope: null }
    const targets = await conform({ url: proxy.url, keys, spends: false, strict: true, recordTo: null, only })
    const failed = targets.flatMap(({ outcomes }) => outcomes.filter(({ verdict }) => verdict === 'failed'))
    return { checks: failed.map(({ check }) => check), messages: failed.flatMap(({ messages }) => messages) }
  }

  t.test('no check fails if the proxy changes nothing', async (t) => {
    const { checks, messages } = await failedChecks([...new Set(faults.map(({ only }) => only))])
    t.same(checks, [], messages.join('; '))
  })

  for (const { name, only, checks, ...fault } of faults)
    t.test(`the checks ${checks.join()} find a fault: ${name}`, async (t) => {
      proxy.fault = fault
      const found = await failedChecks([only])
      proxy.fault = {}
      t.same(found.checks, checks, found.messages.join('; '))
    })
}
