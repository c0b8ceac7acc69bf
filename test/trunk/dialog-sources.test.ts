/**
 * The senders of SIP requests in calls are looked up. One organization cannot use up the look-ups of other
 * organizations.
 */
import t from 'tap'
import { DialogSources } from '../../providers/trunk/dialog-sources.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { silent } from '../store/cluster.ts'
import { plain } from './setup.ts'

const source = { transport: 'udp' as const, address: '192.0.2.7', port: 5060 }

function openSources(areSeveral: boolean) {
  const waiting: (() => void)[] = []
  const sources = new DialogSources({
    connections: { hasAddress: () => new Promise((resolve) => waiting.push(() => resolve(true))) },
    resolve: () => Promise.resolve([]),
    log: silent,
    owners: new Owners(areSeveral),
    limits: { lookupsMax: 16 },
  })
  const look = (organizationId: string) => sources.isOfConnection({ connection: { ...plain, organizationId } }, source)
  return { look, waiting }
}

t.test('an organization has a share of the sender look-ups, and a request beyond it is postponed', async (t) => {
  const { look, waiting } = openSources(true)
  const running = [look('a'), look('a')]
  t.equal(await look('a'), 'unknown')
  running.push(look('b'))
  t.equal(waiting.length, 3, 'organization b is looked up at once')
  for (const answer of waiting.splice(0)) answer()
  t.same(await Promise.all(running), [true, true, true])
  const again = look('a')
  for (const answer of waiting) answer()
  t.equal(await again, true)
})

t.test(
  'the only organization on a server may look up more SIP senders at once than its share, but not all',
  async (t) => {
    const { look, waiting } = openSources(false)
    const running = Array.from({ length: 14 }, () => look('a'))
    t.equal(await look('a'), 'unknown', 'one share stays free')
    for (const answer of waiting) answer()
    t.same(await Promise.all(running), Array<boolean>(14).fill(true))
  },
)
