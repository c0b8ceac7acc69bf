/**
 * A voice session lives in one node, and the path in its WebSocket URL leads to this node. nginx has TLS as in its
 * sample. Caddy would need a host name for TLS: see test/deploy/production.
 */
import type { Test } from 'tap'
import { freePort } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { type Running, startParley } from '../process/parley.ts'
import { loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { TestCluster } from '../store/cluster.ts'
import { type ProxyName, startProxy } from './proxy.ts'

type Node = { running: Running; adminPort: number }

export async function sessionsOfNodes(t: Test, name: ProxyName): Promise<void> {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const databaseUrl = await cluster.database('empty')
  const port = await freePort()
  const tls = name === 'nginx'
  const address = `http${tls ? 's' : ''}://127.0.0.1:${port}`
  const start = async (path: string): Promise<Node> => {
    const adminPort = await freePort()
    const running = await startParley({
      DATABASE_URL: databaseUrl,
      PARLEY_MASTER_KEY: 'm'.repeat(32),
      PARLEY_PROVIDERS: loopbackProviders,
      PARLEY_ADMIN_PORT: String(adminPort),
      PARLEY_PUBLIC_URL: address,
      PARLEY_NODE_URL: `${address}/${path}`,
      PARLEY_TRUSTED_PROXIES: '127.0.0.1/32',
    })
    t.teardown(() => running.remove())
    return { running, adminPort }
  }
  const nodes = [await start('node-1'), await start('node-2')]
  const upstreams = nodes.map(({ running }) => running.url)
  const proxy = await startProxy(name, upstreams, { port, tls })
  t.teardown(() => proxy.stop())
  const options = proxy.certificate === undefined ? {} : { ca: proxy.certificate }
  const live = () => Promise.all(nodes.map(({ adminPort }) => metric(adminPort, 'parley_sessions_live')))

  for (const [i, { running }] of nodes.entries()) {
    const started = await startSession(running)
    t.ok(started.transportUrl.startsWith(`${address.replace('http', 'ws')}/node-${i + 1}/`), started.transportUrl)
    const page = new Page(started, options)
    await page.first('ready')
    await page.ask('hello over the path of the node')
    t.strictSame(await live(), i === 0 ? [1, 0] : [1, 1], `node ${i + 1} holds its session`)
    t.teardown(() => page.close())
  }
}
