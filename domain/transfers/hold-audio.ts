/**
 * Plays an organization's audio while the caller is on hold. The audio is fetched once per transfer. Until it arrives,
 * or if it cannot be fetched, the caller receives the built-in music.
 */
import { AudioError, type AudioFault } from '../../audio/error.ts'
import { wavClip } from '../../audio/wav-clip.ts'
import type { HoldSound } from '../conversation/parts/transferable.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { TransferSettings } from '../records/transfer.ts'
import { type WebhookClient, WebhookError, type WebhookFailure } from '../webhooks/client.ts'

export type HoldAudioDeps = {
  client: Pick<WebhookClient, 'get'>
  clock: Clock
  log: Log
  /** Lets other work run before the returned promise resolves. */
  pause: () => Promise<void>
}

/**
 * `status`: the server did not answer with the audio. `too_large`: the audio is longer than `bytesMax`. `broken`: this
 * server has a defect.
 */
export type HoldAudioFailure = WebhookFailure | AudioFault | 'status' | 'too_large' | 'broken'

/**
 * Begins to fetch at once. The returned function resolves with the clip, or with null after a failure. `failed` is
 * called at most once.
 */
export type FetchHoldAudio = (url: string, failed: (reason: HoldAudioFailure) => void) => HoldSound['audio']

/**
 * Chooses the hold sound: a dial tone or ringback tone in a blind transfer, and music or the organization's audio in a
 * warm transfer.
 */
export function holdSoundOf(
  { kind, playsDialtone, fallback }: TransferSettings,
  fetchHoldAudio: FetchHoldAudio,
  failed: (reason: HoldAudioFailure) => void,
): HoldSound {
  if (kind === 'blind') return { tone: playsDialtone ? 'dialtone' : 'ringback', audio: null }
  const { holdAudioUrl } = fallback
  return { tone: 'music', audio: holdAudioUrl === null ? null : fetchHoldAudio(holdAudioUrl, failed) }
}

/** The maximum size of the audio in bytes, fixed in the contract. */
const bytesMax = 5 * 1024 * 1024
const fetchMs = 10_000

export function createFetchHoldAudio(deps: HoldAudioDeps): FetchHoldAudio {
  return (url, failed) => {
    const body = fetched(deps, url)
    // Prevents an unhandled rejection, because the caller may leave before anything awaits the body.
    body.catch(() => {})
    return async (rateHz) => {
      try {
        return await clipOf(deps, await body, rateHz)
      } catch (err) {
        failed(reasonOf(err, deps.log))
        return null
      }
    }
  }
}

class Unusable extends Error {
  readonly reason: 'status' | 'too_large'

  constructor(reason: 'status' | 'too_large') {
    super(reason)
    this.reason = reason
  }
}

async function fetched({ client, clock }: HoldAudioDeps, url: string): Promise<Uint8Array> {
  const abort = new AbortController()
  const cancel = clock.after(fetchMs, () => abort.abort())
  try {
    const { status, body, isCut } = await client.get({
      url,
      headers: { accept: 'audio/wav, audio/x-wav;q=0.9' },
      signal: abort.signal,
      answerBytesMax: bytesMax,
      lane: url,
    })
    if (status !== 200) throw new Unusable('status')
    if (isCut) throw new Unusable('too_large')
    return body
  } finally {
    cancel()
  }
}

async function clipOf({ pause }: HoldAudioDeps, body: Uint8Array, rateHz: number): Promise<Int16Array> {
  const steps = wavClip(body, rateHz)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

function reasonOf(err: unknown, log: Log): HoldAudioFailure {
  if (err instanceof Unusable || err instanceof AudioError) return err.reason
  // Only the time-out cancels the request.
  if (err instanceof WebhookError) return err.failure === 'cancelled' ? 'timed_out' : err.failure
  log.error({ err }, 'the audio of a hold cannot be made')
  return 'broken'
}
