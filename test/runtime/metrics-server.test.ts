import { request } from 'node:http'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { startMetricsServer } from '../../runtime/telemetry/metrics-server.ts'

/**
 * Starts the metrics server. Returns a function that requests /metrics with this Host header and returns the status.
 */
async function start(t: Test, listenAt: string): Promise<(host: string) => Promise<number | undefined>> {
  const { port, close } = await startMetricsServer(listenAt, 0, new Registry())
  t.teardown(close)
  return (host) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host }, agent: false }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      sent.on('error', reject).end()
    })
}

t.test('metrics at a loopback address are refused if the Host header names another host', async (t) => {
  const statusFor = await start(t, '127.0.0.1')
  for (const host of ['127.0.0.1:9100', 'localhost:9100', '[::1]:9100']) t.equal(await statusFor(host), 200, host)
  for (const host of ['rebound.example:9100', '10.0.0.1']) t.equal(await statusFor(host), 404, host)
})

t.test('metrics at 0.0.0.0 are served for any Host header', async (t) => {
  const statusFor = await start(t, '0.0.0.0')
  t.equal(await statusFor('node-1.internal:9100'), 200)
})
