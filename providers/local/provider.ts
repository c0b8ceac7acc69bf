/**
 * A provider without an account or a network. It has embedded speech engines in child processes and a rule-based
 * language model.
 */

import type { Provider } from '../../domain/ports/provider.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { WarmInput } from './children/child-messages.ts'
import { ChildPool } from './children/child-pool.ts'
import type { JobShares } from './children/job-places.ts'
import { localModels } from './models.ts'
import { createLocalAligner } from './recognition/aligner.ts'
import { createLocalStt, type SttProgress } from './recognition/stt.ts'
import { StreamPool } from './recognition/stt-live.ts'
import { createScriptedLlm } from './script/llm.ts'
import { voiceEngines } from './voice-engines.ts'
import { createLocalTts } from './voices/tts.ts'

export type LocalOptions = {
  /**
   * The number of processes for recordings, each with about 265 MiB and one core. Live streams use the same number of
   * additional processes.
   */
  sttProcesses: number
  /**
   * The most live streams in one process. Eight streams with interim transcripts used half a core on average. With more
   * streams, interim transcripts are rarer.
   */
  sttStreamsMax: number
  /** The number of processes for each voice engine, each with about 100 MB. */
  ttsProcesses: number
  /** The most waiting jobs, separately for recognition and for each voice engine. */
  queueMax: number
  /** Divides the queues and the streams among organizations. */
  shares?: JobShares
  /**
   * The time limit for synthesizing one sentence or recognizing a recording. For a recording, half its duration is
   * added.
   */
  jobTimeoutMs: number
  /** A process is ended if it is idle for this long. */
  idleMs: number
  /**
   * If true, one process for recordings starts soon after the server and is not ended when idle, and `warmUp` starts
   * the processes for a session.
   */
  warm: boolean
  clock: Clock
  log: Log
  onProgress?: (progress: SttProgress) => void
}

/**
 * The time limit for a cancelled job to stop. A recognition stops after its next token, about 10 ms, and a synthesis
 * after its sentence, about 200 ms.
 */
const stopMs = 2000

/** The warm-up begins only after this time, because the starting server needs the processor first. */
const warmUpAfterMs = 500

export function createLocalProvider(options: LocalOptions): Provider {
  const { sttProcesses, sttStreamsMax, ttsProcesses, jobTimeoutMs, onProgress, warm, ...rest } = options
  const sttPool = new ChildPool({ ...rest, entry: 'stt-child', processes: sttProcesses, keepsLast: warm, stopMs })
  const streams = new StreamPool({
    ...rest,
    processes: sttProcesses,
    streamsMax: sttStreamsMax,
    openMs: jobTimeoutMs,
    stopMs,
  })
  const voices = voiceEngines.map((engine) => ({
    engine,
    pool: new ChildPool({ ...rest, entry: engine.entry, processes: ttsProcesses, keepsLast: false, stopMs }),
  }))
  const closing = new AbortController()
  const endWarmUp = warm ? rest.clock.after(warmUpAfterMs, () => warmUp(sttPool, options, closing.signal)) : () => {}
  return {
    id: 'local',
    models: localModels,
    unavailable: () => null,
    ports: {
      speech: {
        stt: createLocalStt({ pool: sttPool, streams, jobTimeoutMs, ...(onProgress && { onProgress }) }),
        tts: createLocalTts({ voices, jobTimeoutMs }),
        aligner: createLocalAligner({ pool: sttPool, jobTimeoutMs }),
      },
      llm: createScriptedLlm(),
    },
    warmUp: (stage, model) => {
      if (!warm) return
      if (stage === 'stt') streams.warmUp()
      if (stage !== 'tts') return
      const pool = voices.find(({ engine }) => engine.model === model)?.pool
      if (pool && !pool.hasChildren) warmUp(pool, options, closing.signal)
    },
    queues: () => ({ stt: sttPool.waiting, tts: voices.reduce((sum, { pool }) => sum + pool.waiting, 0) }),
    close: async () => {
      endWarmUp()
      closing.abort()
      await Promise.all([sttPool.close(), streams.close(), ...voices.map(({ pool }) => pool.close())])
    },
  }
}

/** Loads the models early. A failure is only logged: the first request tries again and reports it. */
function warmUp(pool: ChildPool, { jobTimeoutMs: timeoutMs, log }: LocalOptions, closing: AbortSignal): void {
  const input: WarmInput = { warm: true }
  pool.run({ input, owner: '', expectedMs: 0, timeoutMs }, closing).then(
    () => log.info({}, 'speech child warmed up'),
    (err: unknown) => {
      if (!closing.aborted) log.warn({ err }, 'speech child not warmed up')
    },
  )
}
