/** Makes the local provider with real child processes, and a clock and a log for the test. */
import { readFileSync } from 'node:fs'
import type { OutputFormat, Recording } from '../../audio/format.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Transcript } from '../../domain/ports/stt.ts'
import type { Log } from '../../domain/ports/system.ts'
import { createLocalProvider, type LocalOptions } from '../../providers/local/provider.ts'
import { recognised } from '../audio/build.ts'
import { TestClock } from '../clock.ts'
import { type FixtureName, readFixture } from '../speech/fixtures.ts'

export const native: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 16000, channels: 1 }

export type Local = {
  provider: Provider
  clock: TestClock
  /** The ids of the started speech processes, in start order. */
  started: number[]
  ended: number[]
  /** For each process, the way in which it ended. */
  ways: string[]
  /** True if an engine has finished its warm-up. */
  isWarm: () => boolean
  transcribe: (recording: Recording, signal?: AbortSignal) => Promise<Transcript>
  speak: (text: string, options?: { voice?: string; speed?: number; signal?: AbortSignal }) => Promise<Uint8Array[]>
}

type Teardown = { teardown: (run: () => Promise<void>) => unknown }

/**
 * Makes a provider, and closes it when the test ends. Timers do not run by themselves, because the test moves the
 * clock.
 */
export function openLocal(t: Teardown, options: Partial<LocalOptions> = {}): Local {
  const clock = new TestClock()
  const started: number[] = []
  const ended: number[] = []
  const ways: string[] = []
  let warmUps = 0
  const provider = createLocalProvider({
    modelsDir: '/nowhere',
    sttProcesses: 1,
    sttStreamsMax: 8,
    ttsProcesses: 1,
    queueMax: 1000,
    jobTimeoutMs: 30_000,
    idleMs: 60_000,
    warm: false,
    clock,
    log: childLog(started, ended, ways, () => warmUps++),
    ...options,
  })
  t.teardown(() => provider.close())
  return {
    provider,
    clock,
    started,
    ended,
    ways,
    isWarm: () => warmUps > 0,
    transcribe: (recording, signal = new AbortController().signal) =>
      provider.ports.speech!.stt!.transcribe({ model: 'moonshine-tiny-en', recording, options: {} }, signal),
    speak: async (text, { signal = new AbortController().signal, ...voice } = {}) => {
      const { audio } = await provider.ports.speech!.tts!.synthesize(
        { model: 'flite', text, outputFormat: native, ...voice },
        signal,
      )
      const chunks: Uint8Array[] = []
      for await (const chunk of audio) chunks.push(chunk)
      return chunks
    },
  }
}

function childLog(started: number[], ended: number[], ways: string[], warmedUp: () => void): Log {
  const info = (fields: { childPid?: number; how?: string }, message: string) => {
    if (message === 'speech child warmed up') warmedUp()
    if (message === 'speech child started') started.push(fields.childPid!)
    if (message !== 'speech child ended') return
    ended.push(fields.childPid!)
    ways.push(fields.how!)
  }
  return { info, warn: () => {}, error: () => {} }
}

export function fixture(name: FixtureName, extension?: 'wav' | 'flac' | 'mp3' | 'opus' | 'webm'): Recording {
  return recognised([readFixture(name, extension)], null)
}

/** Returns the same prompt many times over, so its recognition takes a while. */
export function longRecording(times: number): Recording {
  const samples = readFixture('privacy-prompt').subarray(44)
  const declared = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
  return recognised(Array.from({ length: times }, () => [samples, new Uint8Array(12_800)]).flat(), declared)
}

/**
 * Returns true if the process still runs. A zombie, which has ended but was not waited for by its new parent, counts as
 * ended.
 */
export function isRunning(pid: number): boolean {
  try {
    const state = /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

/** If nothing has happened for this long, the engines have hung. */
const hangMs = 60_000

/** Polls until the condition holds. Returns false if it never does. */
export async function eventually(holds: () => boolean): Promise<boolean> {
  const end = performance.now() + hangMs
  while (!holds()) {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

/** Returns a cancel signal for a request of this organization. */
export const ownedBy = (owner: string) => Object.assign(new AbortController().signal, { owner })

/** Returns a job's result: the error class and whether anything was sent, or "done". */
export function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: ProviderError) => `${error.errorClass} ${error.sent ? 'sent' : 'unsent'}`,
  )
}
