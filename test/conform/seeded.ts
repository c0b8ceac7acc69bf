/**
 * Puts a proxy in front of our server, with one fault at a time. The expected checks of `parley conform` must find each
 * fault.
 */
import t from 'tap'
import { conform } from '../../conform/conform.ts'
import { usualLimits } from '../../conform/limits.ts'
import { startAdministered } from '../cli/administered.ts'
import type { SeededFault } from './faults.ts'
import { startProxy } from './proxy.ts'

export async function testFaults(faults: readonly SeededFault[]): Promise<void> {
  const { parley, admin } = await startAdministered(t)
  const scopes = ['router', 'platform', 'realtime', 'rmsg'] as const
  const { id, key } = await admin.organization('behind a proxy', { scopes: [...scopes] })
  await admin.store.organizations.change(id, { recordingEnabled: true })
  const lesser = await admin.key(id, { scopes: [] })
  const proxy = await startProxy(parley.url, key)
  t.teardown(() => proxy.close())
  const failedChecks = async (only: readonly string[], frameMs = usualLimits.frameMs) => {
    const keys = { key, testKey: null, keyOfLesserScope: lesser.key }
    const limits = { ...usualLimits, frameMs }
    const given = { url: proxy.url, keys, spends: false, strict: true, recordTo: null, only, limits }
    const { targets } = await conform(given)
    const failed = targets.flatMap(({ outcomes }) => outcomes.filter(({ verdict }) => verdict === 'failed'))
    return { checks: failed.map(({ check }) => check), messages: failed.flatMap(({ messages }) => messages) }
  }

  t.test('no check fails if the proxy changes nothing, and no requested URL contains an API key', async (t) => {
    const { checks, messages } = await failedChecks([...new Set(faults.map(({ only }) => only))])
    t.same(checks, [], messages.join('; '))
    const addresses = [...proxy.addresses].filter((address) => [key, lesser.key].some((each) => address.includes(each)))
    t.same(addresses, [])
  })

  for (const { name, only, checks, frameMs, ...fault } of faults)
    t.test(`the checks ${checks.join()} find a fault: ${name}`, async (t) => {
      proxy.fault = fault
      const found = await failedChecks([only], frameMs)
      proxy.fault = {}
      t.same(found.checks, checks, found.messages.join('; '))
    })
}
