/**
 * A child process that opens a store, performs one action and then waits until it is killed. Arguments: data folder,
 * DATABASE_URL or "", the action.
 */
import { readStoredPolicy } from '../../handlers/key-policy.ts'
import { systemClock, systemIds } from '../../runtime/timing/clock.ts'
import { openStore } from '../../store/store.ts'

const [dataDir = '', databaseUrl = '', action = 'open', argument = ''] = process.argv.slice(2)
const silent = { info: () => {}, warn: () => {}, error: () => {} }

const store = await openStore({
  dataDir,
  databaseUrl: databaseUrl === '' ? null : databaseUrl,
  progress: () => {},
  log: silent,
  clock: systemClock,
  newId: systemIds.session,
  events: null,
  serves: true,
  prepares: true,
  readPolicy: readStoredPolicy,
  connectionsMax: 2,
  redisUrl: process.env['REDIS_URL'] ?? null,
  idempotency: { leaseMs: 10_000, retentionMs: 86_400_000 },
  masterKeys: () => ({ current: 'm'.repeat(32), previous: [] }),
  choiceRetentionMs: 86_400_000,
  retention: {
    requestsDays: null,
    callsDays: null,
    eventsDays: null,
    deliveriesDays: 30,
    messageTextsDays: null,
    auditDays: null,
  },
  keyCacheMs: 30_000,
  keyCacheMax: 100,
  keysKeptMs: 900_000,
  deadlineMs: 1_000,
  journalBytesMax: 67_108_864,
})

if (action === 'admit') {
  const admission = await store.idempotency.admit(JSON.parse(argument) as Parameters<typeof store.idempotency.admit>[0])
  console.log(admission.outcome)
}
if (action === 'reserve') {
  const { organizationId, requestId, microUsd } = JSON.parse(argument) as Record<
    'organizationId' | 'requestId',
    string
  > & {
    microUsd: number
  }
  console.log((await store.credit.reserve(organizationId, requestId, microUsd)) === null)
}
if (action === 'lease') {
  const lease = await store.limits.acquire('org', argument, { organizationMax: null, keyMax: 1 }, 'request')
  console.log(typeof lease === 'function' ? 'granted' : lease)
}
if (action === 'stop') {
  await store.close({ stopPostgres: true })
  console.log('stopped')
} else if (action === 'close') {
  await store.close({ stopPostgres: false })
  console.log('closed')
} else {
  console.log('ready')
  setInterval(() => {}, 1_000)
}
