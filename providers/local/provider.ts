/**
 * A provider without an account or a network. It has embedded speech engines in child processes and a rule-based
 * language model.
 */

import path from 'node:path'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { WarmInput } from './children/child-messages.ts'
import { ChildPool } from './children/child-pool.ts'
import type { JobShares } from './children/job-places.ts'
import { OfferedModels } from './offered-models.ts'
import { createLocalAligner } from './recognition/aligner.ts'
import type { Recognizer } from './recognition/recognizer.ts'
import { createLocalStt, type RunningRecognizer, type SttProgress } from './recognition/stt.ts'
import { StreamPool } from './recognition/stt-live.ts'
import { recognizers } from './recognizers.ts'
import { createScriptedLlm } from './script/llm.ts'
import { voiceEngines } from './voice-engines.ts'
import { createLocalTts } from './voices/tts.ts'

export type LocalOptions = {
  /** The folder with the models that the user has added. */
  modelsDir: string
  /**
   * The number of processes that recognize recordings, for each recognizer. A process needs one core and about 265 MiB
   * (Whisper: 450 MiB). Live streams use the same number of additional processes.
   */
  sttProcesses: number
  /**
   * The limit for live streams in one process. Eight streams with interim transcripts used half a core on average. With
   * more streams, interim transcripts are rarer.
   */
  sttStreamsMax: number
  /** The number of processes for each voice engine, each with 120 to 170 MiB. */
  ttsProcesses: number
  /** The limit for waiting jobs, separately for recognition and for each voice engine. */
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

/** The time limit for a cancelled synthesis to stop. It stops after its sentence, about 200 ms. */
const voiceStopMs = 2000

/** The warm-up begins only after this time, because the starting server needs the processor first. */
const warmUpAfterMs = 500

export function createLocalProvider(options: LocalOptions): Provider {
  const { ttsProcesses, jobTimeoutMs, onProgress, warm, ...rest } = options
  const running = recognizers.map((recognizer) => run(recognizer, options))
  const [main] = running as [RunningRecognizer, ...RunningRecognizer[]]
  const ofModel = (model: string) => running.find(({ recognizer }) => recognizer.model === model)
  const voices = voiceEngines.map((engine) => ({
    engine,
    pool: new ChildPool({
      ...rest,
      entry: engine.entry,
      processes: ttsProcesses,
      keepsLast: false,
      stopMs: voiceStopMs,
    }),
  }))
  const offered = new OfferedModels(options.modelsDir, options.clock)
  const closing = new AbortController()
  const endWarmUp = warm ? rest.clock.after(warmUpAfterMs, () => warmUp(main.pool, options, closing.signal)) : () => {}
  return {
    id: 'local',
    get models() {
      return offered.models
    },
    rewriteModels: (change) => offered.rewrite(change),
    installable: () => offered.installable,
    unavailable: () => null,
    ports: {
      speech: {
        stt: createLocalStt({ recognizers: running, jobTimeoutMs, ...(onProgress && { onProgress }) }),
        tts: createLocalTts({ voices, jobTimeoutMs }),
        aligner: createLocalAligner({ pool: main.pool, jobTimeoutMs }),
      },
      llm: createScriptedLlm(),
    },
    warmUp: (stage, model) => {
      if (!warm) return
      if (stage === 'stt') ofModel(model)?.streams.warmUp()
      if (stage !== 'tts') return
      const pool = voices.find(({ engine }) => engine.model === model)?.pool
      if (pool && !pool.hasChildren) warmUp(pool, options, closing.signal)
    },
    queues: () => ({ stt: waitingIn(running), tts: waitingIn(voices) }),
    close: async () => {
      endWarmUp()
      closing.abort()
      await Promise.all([...running, ...voices].map(({ pool }) => pool.close()))
      await Promise.all(running.map(({ streams }) => streams.close()))
    },
  }
}

/** Only the first recognizer is kept warm, because most requests need it and each holds hundreds of megabytes. */
function run(recognizer: Recognizer, options: LocalOptions): RunningRecognizer {
  const { sttProcesses, sttStreamsMax, jobTimeoutMs, modelsDir, warm, ...rest } = options
  const { entries, files, stopMs } = recognizer
  const args = files ? [path.join(modelsDir, files.id)] : []
  const shared = { ...rest, args, processes: sttProcesses, stopMs }
  const keepsLast = warm && recognizer === recognizers[0]
  return {
    recognizer,
    pool: new ChildPool({ ...shared, entry: entries.recordings, keepsLast }),
    streams: new StreamPool({ ...shared, entry: entries.streams, streamsMax: sttStreamsMax, openMs: jobTimeoutMs }),
  }
}

function waitingIn(engines: readonly { pool: ChildPool }[]): number {
  return engines.reduce((sum, { pool }) => sum + pool.waiting, 0)
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
