/** Tests getUsage by hour, in a time zone, and with filters, over the public API. */
import t from 'tap'
import { newCall } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { choiceIn, ledgerRow, settled } from '../store/settlement.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

type Row = Record<string, unknown>
type Usage = { groupBy: string[]; rows: Row[]; total: Row; totalSessions: number; totalCost: number; breakdown: Row[] }

const ask = (target: Target, query: object) =>
  call(target, 'GET', `/v1/usage?${new URLSearchParams(query as Record<string, string>).toString()}`)
const read = async (target: Target, query: object) => (await ask(target, { ...march, ...query })).json<Usage>()
const march = { from: '2026-03-29T00:00:00Z', to: '2026-03-30T00:00:00Z' }

async function settle(organizationId: string, id: string, over: Parameters<typeof ledgerRow>[2]) {
  const row = ledgerRow(organizationId, `${organizationId}_${id}`, { quantities: [], costMicroUsd: 1, ...over })
  await settled(admin.store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
}
const at = (time: string) => ({ startedAtMs: Date.parse(`2026-03-29T${time}Z`) })

t.test('getUsage sums by hour and by day of a time zone, also when the clocks change', async (t) => {
  const acme = await admin.organization('hours')
  for (const [id, time] of ['00:30:00', '00:59:59', '01:00:00', '22:30:00'].entries())
    await settle(acme.id, `${id}`, at(time))
  const hours = async (query: object) =>
    (await read(acme, { groupBy: 'hour', ...query })).rows.map(({ hour, requests }) => [hour, requests])
  t.same(await hours({}), [
    ['2026-03-29T00:00:00.000Z', 2],
    ['2026-03-29T01:00:00.000Z', 1],
    ['2026-03-29T22:00:00.000Z', 1],
  ])
  t.same(await hours({ timeZone: 'Asia/Kolkata' }), [
    ['2026-03-29T00:30:00.000Z', 2 + 1],
    ['2026-03-29T22:30:00.000Z', 1],
  ])
  const days = async (timeZone: string) =>
    (await read(acme, { groupBy: 'day', timeZone })).rows.map(({ day, requests }) => [day, requests])
  t.same(await days('UTC'), [['2026-03-29', 4]])
  t.same(await days('Europe/Berlin'), [
    ['2026-03-29', 3],
    ['2026-03-30', 1],
  ])
  t.same(await days('America/Los_Angeles'), [
    ['2026-03-28', 3],
    ['2026-03-29', 1],
  ])
  t.same((await read(acme, { groupBy: 'stage,day,hour' })).groupBy, ['hour', 'day', 'stage'])
})

t.test('getUsage sums only the usage that its filters select, also in the total', async (t) => {
  const acme = await admin.organization('filters')
  const session = newCall(acme.id, { agentId: 'agent_0123456789012345678901', createdAtMs: at('10:00:00').startedAtMs })
  await admin.store.calls.insert(session, {})
  const usual = at('10:00:00')
  await settle(acme.id, '1', { ...usual, model: 'one', costMicroUsd: 5, callId: session.id })
  await settle(acme.id, '2', { ...usual, model: 'two', costMicroUsd: 7, keyId: 'key_2' })
  await settle(acme.id, '3', { ...usual, provider: 'other', stage: 'tts', costMicroUsd: 11 })
  const costs = async (filter: object) => {
    const { total, rows, totalCost, totalSessions } = await read(acme, { groupBy: 'model', ...filter })
    t.equal(totalCost, Number(total['costMicroUsd']) / 1_000_000)
    return [total['requests'], total['costMicroUsd'], rows.length, totalSessions]
  }
  t.same(await costs({}), [3, '23', 3, 1])
  t.same(await costs({ model: 'two' }), [1, '7', 1, 1])
  t.same(await costs({ keyId: 'key_2' }), [1, '7', 1, 0])
  t.same(await costs({ agentId: session.agentId }), [1, '5', 1, 1])
  t.same(await costs({ provider: 'other' }), [1, '11', 1, 1])
  t.same(await costs({ stage: 'tts' }), [1, '11', 1, 1])
  t.same(await costs({ stage: 'llm', keyId: 'key_2' }), [1, '7', 1, 0])
  t.same(await costs({ stage: 'tts', keyId: 'key_2' }), [0, '0', 0, 0])
  t.same(await costs({ model: `' or true --` }), [0, '0', 0, 1])
  const beta = await admin.organization('another')
  t.match(await read(beta, { agentId: session.agentId }), { total: { requests: 0 }, totalSessions: 0 })
})

t.test('getUsage refuses an unknown time zone, more than 7 days by hour, and unknown filters', async (t) => {
  const acme = await admin.organization('refused')
  const refused = async (query: object, path: string) =>
    t.same(faultOf(await ask(acme, query)), { status: 400, code: 'VALIDATION_ERROR', paths: [path] })
  await refused({ timeZone: 'Mars/Olympus' }, 'timeZone')
  await refused({ timeZone: '+01:00' }, 'timeZone')
  await refused({ groupBy: 'hour', from: '2026-03-01T00:00:00Z', to: '2026-03-08T00:00:01Z' }, 'groupBy')
  await refused({ groupBy: 'hour' }, 'groupBy')
  await refused({ stage: 'vad' }, 'stage')
  await refused({ model: 'a\u0000' }, 'model')
  t.equal((await ask(acme, { groupBy: 'hour', from: '2026-03-01T00:00:00Z', to: '2026-03-08T00:00:00Z' })).status, 200)
})
