/**
 * Tests that usage and figures about calls are summed by the hours and days of the organization's time zone, if the
 * request names no zone.
 */
import t from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { runCommand } from '../command.ts'
import type { Target } from '../router/requests.ts'
import { choiceIn, ledgerRow, settled } from '../store/settlement.ts'
import { call, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

type Usage = { timeZone: string; rows: { day?: string; hour?: string; requests: number }[] }
type Figures = { time_zone: string; rows: { bucket: string; calls: number }[] }

/** Makes an organization with the time zone. */
async function organizationIn(timeZone: string) {
  const acme = await admin.organization(`in ${timeZone}`, { scopes: ['platform', 'admin'] })
  t.equal((await call(acme, 'PATCH', '/v1/organization', { timeZone })).status, 200)
  return acme
}

/** Stores a request to a model, and a call, at each time. */
async function useAt(organizationId: string, times: readonly string[]): Promise<void> {
  for (const time of times) {
    const startedAtMs = Date.parse(time)
    const row = ledgerRow(organizationId, `${organizationId}_${time}`, { quantities: [], costMicroUsd: 1, startedAtMs })
    await settled(admin.store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
    const stored = newCall(organizationId, { createdAtMs: startedAtMs })
    await admin.store.calls.insert(stored, {})
    const end = { endedAtMs: startedAtMs + 1_000, endReason: 'user_hangup' as const }
    const entries: CallEntry[] = [
      { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs } },
      { kind: 'move', event: newEvent('call.completed'), to: 'completed', change: end },
    ]
    t.same(await admin.store.calls.append(stored, stored.id, entries), [])
  }
}

type Sums = { from: string; to: string; by: 'day' | 'hour'; zone?: string }

async function usageOf(target: Target, { from, to, by, zone }: Sums) {
  const query = `from=${from}&to=${to}&groupBy=${by}${zone ? `&timeZone=${zone}` : ''}`
  const { timeZone, rows } = (await call(target, 'GET', `/v1/usage?${query}`)).json<Usage>()
  return { zone: timeZone, rows: rows.map((row) => [row[by], row.requests]) }
}

async function figuresOf(target: Target, { from, to, by, zone }: Sums) {
  const query = `since=${from}&until=${to}&interval=${by}${zone ? `&time_zone=${zone}` : ''}`
  const { time_zone: shown, rows } = (await call(target, 'GET', `/v1/calls/figures?${query}`)).json<Figures>()
  return { zone: shown, rows: rows.map(({ bucket, calls }) => [bucket, calls]) }
}

t.test('usage and figures name a zone as the time zone database spells it', async (t) => {
  const acme = await organizationIn('UTC')
  const day = { from: '2026-07-01T00:00:00Z', to: '2026-07-02T00:00:00Z', by: 'day', zone: 'europe/berlin' } as const
  t.equal((await usageOf(acme, day)).zone, 'Europe/Berlin')
  t.equal((await figuresOf(acme, day)).zone, 'Europe/Berlin')
})

t.test('a zone whose name is an abbreviation too has its summer time, in usage and in figures', async (t) => {
  const acme = await organizationIn('CET')
  await useAt(acme.id, ['2026-07-01T21:59:59Z', '2026-07-01T22:00:00Z'])
  const summer = { from: '2026-07-01T00:00:00Z', to: '2026-07-03T00:00:00Z', by: 'day' } as const
  t.same(await usageOf(acme, summer), {
    zone: 'CET',
    rows: [
      ['2026-07-01', 1],
      ['2026-07-02', 1],
    ],
  })
  t.same(await figuresOf(acme, summer), {
    zone: 'CET',
    rows: [
      ['2026-06-30T22:00:00.000Z', 1],
      ['2026-07-01T22:00:00.000Z', 1],
    ],
  })
})

t.test('days are those of the organization, also on the days when its clocks change', async (t) => {
  const acme = await organizationIn('Europe/Berlin')
  // 29 March 2026 has 23 hours in Berlin, from 23:00 UTC to 22:00 UTC, and 25 October 2026 has 25 hours.
  await useAt(acme.id, ['2026-03-28T22:59:59Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z', '2026-03-29T22:00:00Z'])
  const spring = { from: '2026-03-28T00:00:00Z', to: '2026-03-31T00:00:00Z', by: 'day' } as const
  t.same(await usageOf(acme, spring), {
    zone: 'Europe/Berlin',
    rows: [
      ['2026-03-28', 1],
      ['2026-03-29', 2],
      ['2026-03-30', 1],
    ],
  })
  t.same(await figuresOf(acme, spring), {
    zone: 'Europe/Berlin',
    rows: [
      ['2026-03-27T23:00:00.000Z', 1],
      ['2026-03-28T23:00:00.000Z', 2],
      ['2026-03-29T22:00:00.000Z', 1],
    ],
  })
  await useAt(acme.id, ['2026-10-24T21:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'])
  const autumn = { from: '2026-10-24T00:00:00Z', to: '2026-10-27T00:00:00Z', by: 'day' } as const
  t.same((await usageOf(acme, autumn)).rows, [
    ['2026-10-24', 1],
    ['2026-10-25', 2],
    ['2026-10-26', 1],
  ])
  t.same((await figuresOf(acme, autumn)).rows, [
    ['2026-10-23T22:00:00.000Z', 1],
    ['2026-10-24T22:00:00.000Z', 2],
    ['2026-10-25T23:00:00.000Z', 1],
  ])
})

t.test('hours are those of the organization, and a zone in the request comes before them', async (t) => {
  const acme = await organizationIn('Asia/Kolkata')
  await useAt(acme.id, ['2026-03-29T10:15:00Z', '2026-03-29T10:45:00Z'])
  const range = { from: '2026-03-29T00:00:00Z', to: '2026-03-30T00:00:00Z', by: 'hour' } as const
  const halfPast = [
    ['2026-03-29T09:30:00.000Z', 1],
    ['2026-03-29T10:30:00.000Z', 1],
  ]
  t.same(await usageOf(acme, range), { zone: 'Asia/Kolkata', rows: halfPast })
  t.same(await figuresOf(acme, range), { zone: 'Asia/Kolkata', rows: halfPast })
  const whole = [['2026-03-29T10:00:00.000Z', 2]]
  for (const zone of ['UTC', 'Europe/Berlin']) {
    t.same(await usageOf(acme, { ...range, zone }), { zone, rows: whole })
    t.same(await figuresOf(acme, { ...range, zone }), { zone, rows: whole })
  }
})

t.test("`parley usage --org` sums by the days of the organization's time zone", async (t) => {
  const acme = await organizationIn('America/Los_Angeles')
  await useAt(acme.id, ['2026-03-29T06:59:59Z', '2026-03-29T07:00:00Z'])
  const range = ['--from', '2026-03-28', '--to', '2026-03-31']
  const shown = await runCommand(parley, ['usage', '--org', acme.id, '--by', 'day', ...range, '--json'])
  t.match(JSON.parse(shown.stdout), {
    timeZone: 'America/Los_Angeles',
    rows: [
      { day: '2026-03-28', requests: 1 },
      { day: '2026-03-29', requests: 1 },
    ],
  })
  const table = (await runCommand(parley, ['usage', '--org', acme.id, '--by', 'day', ...range])).stdout
  t.match(table, /day \(America\/Los_Angeles\) .*\n *2026-03-28 /, 'the table names the zone')
})
