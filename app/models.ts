/**
 * Makes the operations on models (recognize speech, generate answers, speak) from the store, the providers and the
 * configuration.
 */
import { createConvertSpeech } from '../audio/encode-output.ts'
import { EarlyLeases } from '../domain/access/early-leases.ts'
import { Catalog } from '../domain/catalog/catalog.ts'
import type { DispatchDeps } from '../domain/dispatch/request.ts'
import type { CircuitCounts } from '../domain/health/circuits.ts'
import { Health } from '../domain/health/health.ts'
import { createOperations, type Operations } from '../domain/operations.ts'
import type { Provider } from '../domain/ports/provider.ts'
import { Chooser } from '../domain/routing/chooser.ts'
import { createResampler } from '../runtime/optional.ts'
import { version } from '../runtime/version.ts'
import type { App } from './app.ts'

export function createModelOperations(app: App, providers: readonly Provider[]): Operations {
  watch(app, providers)
  const { openMs, sessionMs: totalMs, pendingBytesMax, aheadMsMax, textCharactersMax } = app.config.realtime
  return createOperations({
    dispatch: dispatchDeps(app, providers),
    convert: createConvertSpeech(createResampler),
    transcribeStreams: { openMs, totalMs, pendingBytesMax, aheadMsMax },
    synthesizeStreams: { totalMs, waitingMax: textCharactersMax },
  })
}

/** Lets the metrics read the states of the store and the providers. */
function watch({ config, store, metrics }: App, providers: readonly Provider[]): void {
  const { connectionsMax, journalBytesMax } = config.store
  metrics.build(version, process.version)
  metrics.watchConnectionsMax(() => connectionsMax)
  metrics.watchDatabaseAway(() => Number(store.isDatabaseAway()))
  metrics.watchJournalBytes(() => store.ledger.journalBytes())
  metrics.watchJournalBytesMax(() => journalBytesMax)
  metrics.watchTransactions(() => {
    const underWay = store.transactionsUnderWay()
    return [
      { labels: { state: 'open' }, value: Math.min(underWay, connectionsMax) },
      { labels: { state: 'waiting' }, value: Math.max(0, underWay - connectionsMax) },
    ]
  })
  metrics.watchBatches(() => [
    { labels: { batch: 'ledger' }, value: store.ledger.waiting() },
    { labels: { batch: 'credit' }, value: store.credit.waiting() },
    { labels: { batch: 'idempotency' }, value: store.idempotency.waiting() },
    { labels: { batch: 'leases' }, value: store.limits.waiting() },
    { labels: { batch: 'keys' }, value: store.keys.waiting() },
    { labels: { batch: 'provider_keys' }, value: store.providerKeys.waiting() },
    { labels: { batch: 'webhook_targets' }, value: store.webhookTargets.waiting() },
  ])
  metrics.watchCarrierUse(() => store.legs.carrierUse())
  metrics.watchBudgetEvents(() => store.budgetEvents.reported())
  metrics.watchEngines(() =>
    providers.flatMap(({ queues }) =>
      Object.entries(queues?.() ?? {}).map(([engine, value]) => ({ labels: { engine }, value })),
    ),
  )
}

function dispatchDeps(app: App, providers: readonly Provider[]): DispatchDeps {
  const { config, store, owners, clock, ids, log, metrics } = app
  const { circuit, limits, timeouts } = config
  const areSeveral = () => owners.areSeveral
  const health = new Health(clock, { model: circuit, credential: { ...circuit, failuresMax: 1 } }, areSeveral)
  const loopbacks = config.providers.filter(({ adapter }) => adapter === 'loopback').map(({ id }) => id)
  const ofProviders = (count: (providerId: string) => CircuitCounts) => () =>
    providers.flatMap(({ id: provider }) =>
      Object.entries(count(provider)).map(([kind, value]) => ({ labels: { provider, kind }, value })),
    )
  metrics.watchCircuits(ofProviders((id) => health.openCircuits(id)))
  metrics.watchWaitingOrganizations(ofProviders((id) => health.waitingOrganizations(id)))
  const catalog = new Catalog(providers, config.aliases)
  const { attemptsMax } = limits
  const { idleMs, speechMs, transcriptionMs } = timeouts
  return {
    clock,
    ids,
    log,
    metrics,
    conventionNames: { gemini: 'gcp.gemini', mistral: 'mistral_ai' },
    health,
    providerKeys: store.providerKeys,
    chooser: new Chooser({ catalog, health, testProviders: new Set(['local', ...loopbacks]) }),
    concurrency: store.limits,
    earlyLeases: new EarlyLeases(store.limits),
    idempotency: store.idempotency,
    credit: store.credit,
    ledger: store.ledger,
    unpricedNeedsCredit: config.billing.unpricedNeedsCredit,
    hedges: config.routing.hedge,
    limits: {
      llm: {
        attemptsMax,
        firstByteMs: timeouts.firstTokenMs,
        idleMs,
        answerMs: timeouts.answerMs,
        totalMs: timeouts.llmMs,
      },
      tts: { attemptsMax, firstByteMs: timeouts.firstAudioMs, idleMs, answerMs: speechMs, totalMs: speechMs },
      stt: { attemptsMax, firstByteMs: transcriptionMs, idleMs, answerMs: transcriptionMs, totalMs: transcriptionMs },
    },
  }
}
