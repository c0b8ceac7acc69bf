/** Joins store, providers and configuration to the operations of the domain. */
import { createConvertSpeech } from './audio/encode-output.ts'
import { Catalog } from './domain/catalog/catalog.ts'
import type { DispatchDeps } from './domain/dispatch/request.ts'
import { Health } from './domain/health/health.ts'
import { createOperations, type Operations } from './domain/operations.ts'
import type { Provider } from './domain/ports/provider.ts'
import { Chooser } from './domain/routing/chooser.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import type { createMetrics } from './runtime/metrics.ts'
import { createResampler } from './runtime/optional.ts'
import type { Store } from './store/store.ts'

export type OperationParts = {
  config: ParleyConfig
  store: Store
  providers: readonly Provider[]
  log: ReturnType<typeof createLog>
  metrics: ReturnType<typeof createMetrics>
}

export function operationsOf(parts: OperationParts): Operations {
  const { openMs, sessionMs: totalMs, pendingBytesMax, aheadMsMax, textCharactersMax } = parts.config.realtime
  return createOperations({
    dispatch: dispatchDeps(parts),
    convert: createConvertSpeech(createResampler),
    transcribeStreams: { openMs, totalMs, pendingBytesMax, aheadMsMax },
    synthesizeStreams: { totalMs, waitingMax: textCharactersMax },
  })
}

function dispatchDeps({ config, store, providers, log, metrics }: OperationParts): DispatchDeps {
  const { circuit, limits, timeouts } = config
  const health = new Health(systemClock, { model: circuit, credential: { ...circuit, failuresMax: 1 } })
  const loopbacks = config.providers.filter(({ adapter }) => adapter === 'loopback').map(({ id }) => id)
  const catalog = new Catalog(providers, config.aliases)
  const { attemptsMax } = limits
  const { idleMs, speechMs, transcriptionMs } = timeouts
  return {
    clock: systemClock,
    ids: systemIds,
    log,
    metrics,
    health,
    providerKeys: store.providerKeys,
    chooser: new Chooser({ catalog, health, testProviders: new Set(['local', ...loopbacks]) }),
    concurrency: store.limits,
    idempotency: store.idempotency,
    credit: store.credit,
    ledger: store.ledger,
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
