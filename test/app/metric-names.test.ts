/** The name of a Prometheus metric shows its kind, as https://prometheus.io/docs/practices/naming says. */
import t from 'tap'
import { freePort } from '../process/machine.ts'
import { ownServer } from '../server.ts'

t.test('on /metrics all counters, and no gauges or histograms, have names that end with _total', async (t) => {
  const adminPort = await freePort()
  await ownServer(t, { PARLEY_ADMIN_PORT: String(adminPort) })
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  const kinds = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
  t.ok(kinds.length > 60, `${kinds.length} metrics`)
  for (const [, name = '', kind = ''] of kinds)
    t.equal(name.endsWith('_total'), kind === 'counter', `${name} is a ${kind}`)
})
