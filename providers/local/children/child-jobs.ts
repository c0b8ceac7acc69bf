/** Runs jobs inside a child process, one after the other, until the parent ends. */
import { AudioError } from '../../../audio/error.ts'
import type { FromSpeechChild, ToSpeechChild } from './child-messages.ts'

export type JobContext = {
  /** The recording in pieces. The parent sends one piece at a time. */
  pieces: AsyncIterable<Uint8Array>
  /**
   * The cancel signal. A job must check it between its steps: if a cancelled job does not stop, the parent kills the
   * child process.
   */
  signal: AbortSignal
  progress: (doneMs: number) => void
}

export function serveJobs<Input, Output>(run: (input: Input, context: JobContext) => Promise<Output>): void {
  let job: RunningJob | undefined
  process.on('message', (message: ToSpeechChild) => {
    if (message.type !== 'start') return job?.take(message)
    job = new RunningJob()
    void answer(run(message.input as Input, job.context))
  })
  leaveWithParent()
}

export function leaveWithParent(): void {
  process.on('disconnect', () => process.exit(0))
  // Ctrl-C and service managers signal the whole process group. This child ignores the signal, because the parent first
  // finishes open requests and then ends its children.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
}

async function answer(output: Promise<unknown>): Promise<void> {
  try {
    send({ type: 'done', output: await output })
  } catch (error) {
    send({ type: 'failed', ...failureOf(error) })
  }
}

/**
 * Returns the error for the parent. Undecodable audio is a bad request and not the speech engine's failure, so the
 * engine's circuit must not open.
 */
export function failureOf(error: unknown): { errorClass: 'bad_request' | 'server'; message: string } {
  const errorClass = error instanceof AudioError ? 'bad_request' : 'server'
  return { errorClass, message: error instanceof Error ? error.message : String(error) }
}

class RunningJob {
  readonly #stop = new AbortController()
  #deliver: ((piece: Uint8Array | null) => void) | undefined

  readonly context: JobContext = {
    pieces: this.#pieces(),
    signal: this.#stop.signal,
    progress: (doneMs) => send({ type: 'progress', doneMs }),
  }

  take(message: ToSpeechChild): void {
    if (message.type === 'stop') this.#stop.abort()
    this.#deliver?.(message.type === 'piece' ? message.bytes : null)
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = await new Promise<Uint8Array | null>((resolve) => {
        this.#deliver = resolve
        send({ type: 'more' })
      })
      this.#stop.signal.throwIfAborted()
      if (piece === null) return
      yield piece
    }
  }
}

function send(message: FromSpeechChild): void {
  sendToParent(message)
}

/**
 * Sends a message. If the parent has closed the channel, the message is dropped: the event `disconnect` follows and
 * ends this process.
 */
export function sendToParent(message: object): void {
  process.send?.(message, undefined, undefined, () => {})
}
